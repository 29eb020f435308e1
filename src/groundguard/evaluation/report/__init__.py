"""Reports on a run: pure functions from a run, and what was found about it, to text.

None reads a clock or writes a file. `content.report_on` gathers what there is to tell; `html`, `junit`, `markdown` and
`summary` tell it. `html` needs jinja2 and `junit` junitparser: `pip install 'groundguard-rag[eval]'`.
"""
