# ruff: noqa: E501
"""A small file of each format, its text as the reader gives it, and the characters that a reader sees in it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from docx import Document
from docx.shared import Pt


@dataclass(frozen=True, slots=True)
class Sample:
    path: Path
    data: bytes
    text: str


PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata/>
<Page imageFilename="scans/KR1_WYG_010-1a.png" imageWidth="900" imageHeight="900">
<ReadingOrder><OrderedGroup id="o"><RegionRefIndexed index="1" regionRef="r2"/><RegionRefIndexed index="0" regionRef="r1"/>
</OrderedGroup></ReadingOrder>
<TextRegion id="r2" custom="x"><TextLine id="l4"><TextEquiv index="1"><Unicode>無</Unicode></TextEquiv>
<TextEquiv index="0"><Unicode>命上射曰</Unicode></TextEquiv></TextLine></TextRegion>
<TextRegion id="r1"><TextLine id="l1"><Word id="w"><Glyph id="g1"><TextEquiv conf="0.9"><Unicode>大</Unicode></TextEquiv>
</Glyph><Glyph id="g2"><TextEquiv><Unicode>夫</Unicode></TextEquiv></Glyph><TextEquiv><Unicode>大夫</Unicode></TextEquiv>
</Word><TextEquiv><Unicode>大夫</Unicode></TextEquiv></TextLine>
<TextLine id="l2" custom="structure {type:note-right;}"><TextEquiv><Unicode>甲&amp;KR0058;</Unicode></TextEquiv></TextLine>
<TextLine id="l3" custom="structure {type:note-left;}"><TextEquiv><Unicode>乙&#x4E19;</Unicode></TextEquiv></TextLine>
<TextEquiv><Unicode>大夫
甲&amp;KR0058;
乙&#x4E19;</Unicode></TextEquiv></TextRegion></Page></PcGts>"""

ALTO = """<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><sourceImageInformation>
<fileName>0012.jpg</fileName></sourceImageInformation></Description><Tags><OtherTag ID="a" LABEL="note-right"/>
<OtherTag ID="b" LABEL="note-left"/></Tags><Layout><Page><PrintSpace><TextBlock ID="t"><TextLine><String CONTENT="大"/>
<SP/><String SUBS_CONTENT="無" CONTENT='夫&amp;'><Glyph CONTENT="夫"/></String></TextLine></TextBlock><TextBlock>
<TextLine><String CONTENT="命上"/></TextLine><TextLine TAGREFS="a"><String CONTENT="甲"/></TextLine>
<TextLine TAGREFS="b"><String CONTENT="乙"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""

CBETA_XML = """<TEI xmlns="http://www.tei-c.org/ns/1.0" xmlns:cb="http://www.cbeta.org/ns/1.0" xml:id="T08n0235"><teiHeader>
<fileDesc><titleStmt><title level="m" xml:lang="zh-Hant">金剛般若波羅蜜經</title></titleStmt></fileDesc></teiHeader><text>
<body><milestone n="1" unit="juan"/><pb ed="T" n="0748c" xml:id="T08.0235.0748c"/>
<lb n="0748c17" ed="T"/><cb:mulu level="1">目錄</cb:mulu><head>金剛經</head>
<lb n="0748c18" ed="T"/><lb n="0001a01" ed="X"/><p>如是<note n="0748c01" resp="r" place="foot text">大正</note><app
 n="1"><lem wit="#w1">我聞</lem><rdg wit="#w2">吾聞</rdg></app>一<g ref="#CB00001"/>時<note place="inline">小注</note>
<lb n="0748c19" ed="T"/>佛在<choice><sic>誤</sic><corr>舍衛</corr></choice>國</p></body></text></TEI>"""

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>射義</title></titleStmt></fileDesc>
</teiHeader><text><body><div><head>第一</head><p>大射之儀<note type="commentary" place="inline">射義也</note>君有命
戒射<note place="foot">嚴本無命字。</note></p></div></body></text></TEI>"""

WIKITEXT = """{{SKQS header|title=晉書 (四庫全書本)|section=卷一}}<onlyinclude><poem>
　晉書卷一　　{{*|唐太宗{{SKchar|2593}}御撰}}
{{SK anchor|帝紀第一}}
王導{{SK notes|子{{SKchar2|25}}之}}字茂[[弘|宏]]{{另|甲|乙}}&#x4E00;
<史部,正史類,晉書,卷一>
</poem></onlyinclude>
== 標題 ==
文<ref>注文</ref>又文<!-- 不讀 -->
{{SKQS footer}}[[Category:晉書]]
"""

CBETA = """\ufeff#【經文資訊】大正新脩大藏經 第八冊 No. 235《金剛般若波羅蜜經》
#【版本記錄】CBETA 電子佛典
#-----------------------------------
T08n0235_p0748c17║金剛般若波羅蜜經
T08n0235_p0748c20║如是我聞
T08n0235_p0749a01║佛在[含>舍]衛國[衍>]
"""

PAGE_LINES = "書名\r\n[1a]\r\n大射儀\r\n公入\r\n[1b]\r\n命上射#曰\r\n"


def epub() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
            'full-path="OEBPS/a.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "OEBPS/a.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>'
            '射義</dc:title></metadata><manifest><item id="n" href="nav.xhtml" properties="nav" media-type='
            '"application/xhtml+xml"/><item id="c" href="c%20d.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="n"/><itemref idref="c"/></spine></package>',
        )
        archive.writestr("OEBPS/nav.xhtml", "<html><body><p>目錄</p></body></html>")
        archive.writestr(
            "OEBPS/c d.xhtml",
            '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>無</title></head>'
            "<body><h1>第一</h1><p>大射&nbsp;之<ruby>儀<rt>yi</rt></ruby><small>射義也</small></p></body></html>",
        )
    return target.getvalue()


def docx() -> bytes:
    document = Document()
    document.core_properties.title = "射義"
    document.add_heading("第一", 1)
    paragraph = document.add_paragraph()
    paragraph.add_run("大射之儀&").font.size = Pt(12)
    paragraph.add_run("射義也").font.size = Pt(9)
    document.add_paragraph("君有命").runs[0].font.size = Pt(12)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def front(title: str) -> str:
    return f'---\ntitle: "{title}"\n---\n'


SAMPLES = {
    "page": Sample(Path("x.xml"), PAGE.encode(), "<pb:KR1_WYG_010-1a>¶\n大夫(甲&KR0058;/乙丙)¶\n命上射曰¶\n"),
    "alto": Sample(Path("x.xml"), ALTO.encode(), "<pb:0012>¶\n大夫&¶\n命上(甲/乙)¶\n"),
    "tei with lines": Sample(
        Path("x.xml"),
        CBETA_XML.encode(),
        "#+TITLE: 金剛般若波羅蜜經\n<pb:T08n0235_p0748c>¶\n金剛經¶\n如是我聞一&CB00001;時(小注)¶\n佛在舍衛國¶\n",
    ),
    "tei": Sample(
        Path("x.xml"),
        TEI.encode(),
        front("射義") + "\n### 第一\n\n大射之儀<small>射義也</small>君有命戒射[^1]\n\n[^1]: 嚴本無命字。\n",
    ),
    "wikitext": Sample(
        Path("x.txt"),
        WIKITEXT.encode(),
        front("晉書")
        + "\n\u3000晉書卷一\u3000\u3000<small>唐太宗&SK-2593;御撰</small>\n\n帝紀第一\n\n"
        + "王導<small>子&SK2-25;之</small>字茂宏甲一\n\n###  標題 \n\n文[^1]又文\n\n[^1]: 注文\n",
    ),
    "cbeta": Sample(
        Path("x.txt"),
        CBETA.encode(),
        "#+TITLE: 金剛般若波羅蜜經\n<pb:T08n0235_p0748c>¶\n金剛般若波羅蜜經¶\n如是我聞¶\n<pb:T08n0235_p0749a>¶\n佛在舍衛國¶\n",
    ),
    "page-lines": Sample(
        Path("x.txt"),
        PAGE_LINES.encode(),
        "<pb:x_0>¶\n書名¶\n<pb:1a>¶\n大射儀¶\n公入¶\n<pb:1b>¶\n命上射＃曰¶\n",
    ),
    "docx": Sample(
        Path("x.docx"),
        docx(),
        front("射義") + "\n### 第一\n\n大射之儀&<small>射義也</small>\n\n君有命\n",
    ),
    "epub": Sample(Path("x.epub"), epub(), front("射義") + "\n### 第一\n\n大射\xa0之儀<small>射義也</small>\n"),
}
