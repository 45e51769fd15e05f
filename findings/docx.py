# docx.py PARAGRAPH...: write t.docx of paragraphs in WordprocessingML, as little as Word itself needs.
import sys
import zipfile

PACKAGE = 'http://schemas.openxmlformats.org/package/2006/'
OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'
with zipfile.ZipFile('t.docx', 'w') as docx:
    docx.writestr('[Content_Types].xml', f'''<Types xmlns="{PACKAGE}content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml"
  ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>''')
    docx.writestr('_rels/.rels', f'''<Relationships xmlns="{PACKAGE}relationships">
<Relationship Id="r1" Type="{OFFICE}" Target="word/document.xml"/></Relationships>''')
    docx.writestr('word/document.xml', f'''<w:document
xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
{''.join(f'<w:p>{paragraph}</w:p>' for paragraph in sys.argv[1:])}</w:body></w:document>''')
