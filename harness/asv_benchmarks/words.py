"""Words of chat in English and Japanese, the most frequent first."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ENGLISH = _words(
    """
    the to a you it and that of in is we for on my have was with at so this do be but not
    what just if me are they about can she he like out there know get up when all would her how
    one go him from them think time had been did really will or good were some by now here want
    then your could going well too don't see because last yeah more it's day got their than
    back work over after told today need make two week only something still home right new said
    tomorrow come little next off again take people first before look tell dinner morning year
    maybe sure evening phone never friend way thanks school doctor house kitchen weekend
    mother movie feel train coffee Thursday idea office ticket message sorry birthday lunch
    appointment garden brother always money another meeting email Monday book nothing room
    flight summer problem recipe music minutes photo sister answer hospital neighbour cheaper
    bought hotel different forgot Saturday already project bicycle wonderful weather dog
    station holiday broken colour airport remember deadline chicken invited grandmother
    password umbrella dentist insurance violin kitchenette mountain library passport guitar
    schedule allergy wedding museum laptop vegetable receipt headache apartment mechanic bakery
    screenshot thermostat marathon spreadsheet lasagne scaffolding orchestra hydrangea ferry
    upholstery lighthouse cinnamon archive juggling zucchini
    """
)

JAPANESE = _words(
    """
    の は に を が と で も です ます た て ない から けど まで よ ね か な それ これ 今日 私
    明日 する いる ある 思う 行く 行った 言って ちょっと もう まだ でも そして たぶん 本当に
    昨日 時間 友達 仕事 電話 週末 家 朝 夜 駅 会議 病院 予約 映画 買った 食べた 母 父 妹 兄
    写真 旅行 料理 電車 天気 来週 先週 学校 先生 誕生日 木曜日 土曜日 コーヒー メール 部屋 犬
    庭 資料 締め切り 変更 お願い ありがとう すみません 大丈夫 忘れた 覚えて 楽しかった 難しい
    新しい 高い 安い 音楽 練習 試験 図書館 美術館 歯医者 保険 空港 荷物 自転車 引っ越し 台所
    隣 相談 連絡 返事 切符 財布 傘 雨 桜 温泉 味噌汁 弁当 祖母 結婚式 山登り 合唱団 領収書
    アレルギー パソコン 冷蔵庫 蛍光灯 合鍵 回覧板 紫陽花 三味線 盆踊り 灯台 陶芸 確定申告
    """
)
