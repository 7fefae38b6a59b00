"""Japanese names for stored conversations."""

from __future__ import annotations

from cpersona_jit.cues.form import Form

TALK = (
    r"(?:セッション|会話|チャット|対話|やりとり|やり取り|話し合い|おしゃべり|トーク"
    r"|ディスカッション|お?話(?!題|し方)"
    r"|相談(?!会|所|料|員|窓口|室)|質問|ミーティング|雑談)"
)
STRICT_TALK = (
    r"(?:セッション|会話|チャット|対話|やりとり|やり取り|トーク|雑談)(?!番組|ショー|イベント|劇"
    r"|術|力|室|相手|アプリ|ルーム|画面|教室)"
)
# What makes a bare "last time" one of talking: another noun behind it would be the last match.
TALKED = (
    r"(?:(?:に|は)?(?:、|,|も|まで)?(?:何|なに|どこ|誰|どの|どう|どんな|なん|私|僕|俺|あなた|君|勧"
    r"|すすめ|おすすめ|お勧|教"
    r"|聞|言|話|お話|伝|相談|会話|頼|お願|決|提案|質問|説明|紹介|触れ|出|チャット|挙|約束"
    r"|[一-鿿]{1,6}について)|、|,|は(?!い)"
    r"|から|[?？]|\Z)"
)

SESSIONS = (
    Form(
        "ja.session_newest",
        rf"{{ago:nth_ago}}(?:の{TALK}(?:で|に|の)?|の(?:続き|内容|とき|時|終わり|最後|ところ)"
        rf"|(?={TALKED}))",
        "session_ago",
        "SESSION",
        (
            ("前回の会話で何を話した?", "session ago 1"),
            ("前々回のセッションの話題は?", "session ago 2"),
            ("前回、どの本を勧めてくれた?", "session ago 1"),
            ("前々回は何を聞いた?", "session ago 2"),
        ),
        ("前回の健診の結果は?", "前回買った本は?"),
        "sure",
    ),
    Form(
        "ja.session_latest",
        rf"(?:一番最近|いちばん最近|最も新しい|最新|直近|最後|この前|この間|こないだ|先ほど|前回"
        rf"|1つ前|ひとつ前|1個前|前|直前)の"
        rf"{STRICT_TALK}",
        "session_ago",
        "SESSION",
        (
            ("最後の会話で何を頼んだ?", "session ago 1"),
            ("直近のセッションの話題は?", "session ago 1"),
            ("この前のチャットで決めたことは?", "session ago 1"),
        ),
        ("最後の授業で何をした?", "前の席の人は?"),
        "sure",
    ),
    Form(
        "ja.session_last_talk",
        r"(?:最後|前回|この前|最近)に?(?:お?話し?し?|会話し|チャットし|やり取りし|やりとりし"
        r"|しゃべっ)た(?:とき|時|際)",
        "session_ago",
        "SESSION",
        (
            ("最後に話したとき何を頼んだ?", "session ago 1"),
            ("前回話した時に決めたことは?", "session ago 1"),
            ("この前お話しした際に聞いた店は?", "session ago 1"),
        ),
        ("最後に走ったときは?", "母と話したときは?"),
        "sure",
    ),
    Form(
        "ja.sessions_ago",
        rf"(?:{{n}}(?:つ|個|回分?)前(?:の(?:{TALK}|回)|(?=に(?:お?話|会話|相談|聞|言|何|教)|、"
        rf"|は何))"
        rf"|{{n2:n}}(?:つ|個|回)?の?(?:セッション|会話|チャット|対話)前"
        rf"|{{n3:two_before}}の{STRICT_TALK}"
        rf"|(?:セッション|会話|チャット)を?{{n4:n}}(?:つ|個|回)(?:前|さかのぼ))",
        "session_ago",
        "SESSION",
        (
            ("二つ前のセッションで何を話した?", "session ago 2"),
            ("3回前の会話の話題は?", "session ago 3"),
            ("2セッション前に決めたことは?", "session ago 2"),
        ),
        ("二つ前の駅はどこ?", "何回前の会話だった?"),
        "sure",
    ),
    Form(
        "ja.session_nth_last",
        rf"(?:最後|後ろ|うしろ|終わり)から{{n:number}}(?:番目|つ目|回目)の{TALK}",
        "session_ago",
        "SESSION",
        (
            ("最後から二番目のセッションで何を話した?", "session ago 2"),
            ("後ろから3番目の会話の話題は?", "session ago 3"),
            ("最後から2つ目のチャットで決めたことは?", "session ago 2"),
        ),
        ("最後から二番目の章は?", "後ろから3番目の席は?"),
        "sure",
    ),
    Form(
        "ja.session_first",
        rf"(?:一番最初|いちばん最初|1番最初|最初|初めて|はじめて|初)の{STRICT_TALK}"
        rf"|初回(?:の{TALK}|(?={TALKED}))"
        rf"|(?:初めて|はじめて|最初に)(?:お?話し?し?|会話し|チャットし|しゃべっ|相談し"
        rf"|やり取りし)た(?:とき|時|際|日)",
        "session_ordinal",
        "SESSION",
        (
            ("最初の会話で何を話した?", "session ordinal 1"),
            ("初回のセッションの目標は?", "session ordinal 1"),
            ("初めて話したとき名乗った名前は?", "session ordinal 1"),
            ("初回は何を相談した?", "session ordinal 1"),
        ),
        ("初回限定盤は買った?", "最初の授業は何だった?"),
        "sure",
    ),
    Form(
        "ja.session_ordinal",
        rf"(?:第?{{n:number}}(?:回目?|番目|つ目|個目|度目)の?{STRICT_TALK}"
        rf"|第{{n2:number}}(?:セッション|回目?(?=で|に|の話|は何|、))"
        rf"|{{n3:number}}回目に?(?:お?話し?し?|会話し|チャットし|相談し)た(?:とき|時|際))",
        "session_ordinal",
        "SESSION",
        (
            ("3回目の会話で何を話した?", "session ordinal 3"),
            ("第五回のセッションの話題は?", "session ordinal 5"),
            ("二番目のチャットで決めたことは?", "session ordinal 2"),
            ("第2セッションで聞いた曲は?", "session ordinal 2"),
        ),
        ("3回目の授業は何だった?", "何回目の会話?"),
        "sure",
    ),
    Form(
        "ja.session_number",
        r"(?:セッション|会話|チャット)(?:番号)?(?:#|No\.?|の)?{n:number}(?!つ|回|人|時|分|日|年|月"
        r"|か|個|%|[.:]\d)(?:番)?",
        "session_ordinal",
        "SESSION",
        (
            ("セッション3で何を話した?", "session ordinal 3"),
            ("会話#12の話題は?", "session ordinal 12"),
            ("チャット5で決めたことは?", "session ordinal 5"),
        ),
        ("セッション3時間は長い?", "チャット2回で終わる?"),
        "sure",
    ),
    Form(
        "ja.session_range",
        rf"(?:(?:セッション|会話|チャット)#?{{n:number}}(?:から|~|-|と)(?:セッション|会話"
        rf"|チャット)?#?{{m:number}}(?!つ|人|時)"
        rf"|第?{{n2:number}}(?:回目?|番目)?(?:から|~|-)第?{{m2:number}}(?:回目?"
        rf"|番目)(?:まで)?の?{TALK})(?:まで|の間|にかけて)?",
        "session_range",
        "SESSION",
        (
            ("セッション3から5で何を話した?", "session range 3 5"),
            ("第2回から第4回の会話の話題は?", "session range 2 4"),
            ("1回目から3回目までのセッションで決めたことは?", "session range 1 3"),
        ),
        ("1回目から3回目の授業は?", "3から5まで数える?"),
        "sure",
    ),
    Form(
        "ja.first_sessions",
        rf"(?:最初|初め|はじめ|始め)の{{n}}(?:回分?|つ|個|件)?(?:の)?(?:{STRICT_TALK}|(?<=回)(?=で"
        rf"|に|は|の話))",
        "first_sessions",
        "SESSION",
        (
            ("最初の三回の会話で何を話した?", "session first 3"),
            ("初めの2セッションの話題は?", "session first 2"),
            ("最初の5つのチャットで決めたことは?", "session first 5"),
        ),
        ("最初の三章は?", "最初の2回の授業は?"),
        "sure",
    ),
    Form(
        "ja.last_sessions",
        rf"(?:最近|直近|過去|最後|ここ|この|直前)の?{{n}}(?:回分?|つ|個"
        rf"|件)?(?:の)?(?:{STRICT_TALK}|(?<=回)(?=で|に|は|の話))",
        "last_sessions",
        "SESSION",
        (
            ("直近三回の会話で何を話した?", "session last 3"),
            ("最近の2つのセッションの話題は?", "session last 2"),
            ("ここ数回で決めたことは?", "session last 3"),
        ),
        ("最近3回の試合は?", "最後の2章は?"),
        "sure",
    ),
)
