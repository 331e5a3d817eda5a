"""The settings of a run as a document: what to set, then each setting with what was published."""

from collections.abc import Iterator

from sqlitmus.render.document import cells, parts
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import (
    Block,
    Cell,
    Column,
    Document,
    Head,
    Items,
    Paragraph,
    Row,
    Section,
    Table,
)
from sqlitmus.results.advice import Advice, Effect, Setting, Tried
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted

_STYLES = {Effect.UNSUPPORTED: "na", Effect.WRONG: "bad", Effect.FAILED: "bad"}


def build(report: Report) -> Document:
    """The document of a run that tried settings."""
    advice = next(each for each in report.headline if isinstance(each, Advice))
    return parts.document(
        report,
        [("", counted(len(advice.settings), "setting")), ("runner", advice.runner)],
        [_overview(advice), *(_setting(setting, advice) for setting in advice.settings)],
        parts.verdicts(report, "Numbers are time with the setting over time without it"),
    )


def _overview(advice: Advice) -> Section:
    """All settings by group and database."""
    spots = list(dict.fromkeys((t.group, t.database) for s in advice.settings for t in s.tried))
    spots = [
        spot
        for spot in spots
        if any(
            t.effect is not Effect.NOT_MEASURED
            for s in advice.settings
            for t in s.tried
            if (t.group, t.database) == spot
        )
    ]
    rows: list[Row] = []
    for setting in advice.settings:
        tried = {(t.group, t.database): t for t in setting.tried}
        row = [_cell(tried[spot]) if spot in tried else cells.NONE for spot in spots]
        head = Head(setting.title, link=f"setting-{setting.name}")
        rows.append(Row(head, [*row, Cell(_promise(setting))], key=setting.name))
    columns = [
        Column("-".join(filter(None, spot)), " ".join((advice.groups[spot[0]], spot[1])).strip())
        for spot in spots
    ]
    columns.append(Column("commit", "what a commit promises", "text", wide=True))
    table = Table("settings", Column("setting", "setting", "id"), columns, rows, matrix=True)
    return Section("settings", "Settings", [*_lead(advice)], [table])


def _lead(advice: Advice) -> Iterator[str]:
    yield (
        f"{advice.runner}: time with the setting over time without it; below 1 it helps. Both sides "
        f"have the profile {advice.start}, and the setting that a row is beside."
    )
    for place in advice.places:
        if place.bytes and place.cache_bytes:
            fits = "fits" if place.bytes <= place.cache_bytes else "does not fit"
            name = f"Database {place.name}" if place.name else "The database"
            yield (
                f"{name} has {fmt.size(place.bytes)} and {fits} into the page cache of "
                f"{fmt.size(place.cache_bytes)} that the driver sets by itself."
            )
    yield f"A difference of less than {100 * advice.margin:g} % counts as nothing."


def _promise(setting: Setting) -> str:
    """Whether a commit promises less with it; "" where that was not looked at."""
    if setting.after is None or setting.before is None:
        return ""
    if setting.weakens:
        return f"less: {setting.after}"
    return "more" if setting.after.level > setting.before.level else "the same"


def _cell(tried: Tried) -> Cell:
    if tried.ratio and tried.verdict:
        return cells.compared(tried.ratio, tried.verdict)
    style = _STYLES.get(tried.effect, "un")
    return Cell(str(tried.effect), style=style, emphasis="aside", tooltip=tried.reason)


def _setting(setting: Setting, advice: Advice) -> Section:
    """One setting: what it does, what a commit promises, each group, and what others published."""
    lead = [setting.does]
    if setting.weakens:
        lead.append(
            f"It changes durability. Without it: {setting.before}. With it: {setting.after}."
        )
    if setting.caution:
        lead.append(setting.caution)
    if setting.beside:
        lead.append(f"Beside {setting.beside} on both sides.")
    titles = {place.name: place.title for place in advice.places}
    rows = [
        Row(
            Head(advice.groups[tried.group], (tried.database,) if tried.database else ()),
            [
                Cell(titles.get(tried.database, "")),
                Cell(str(tried.effect), style=_STYLES.get(tried.effect, "")),
                _cell(tried) if tried.ratio else cells.NONE,
                *(Cell(fmt.time(t)[0]) if t else cells.NONE for t in (tried.base_time, tried.new_time)),
                Cell(_rest(tried)),
            ],
        )
        for tried in setting.tried
    ]
    columns = [
        Column("database", "database", "text", wide=True),
        Column("effect", "effect", "text"),
        Column("ratio", "with / without"),
        Column("without", "without"),
        Column("with", "with"),
        Column("rest", "besides", "text"),
    ]
    table = Table(
        f"setting-{setting.name}", Column("queries", "queries", "text"), columns, rows
    )
    blocks: list[Block] = [table]
    if setting.published:
        blocks.append(Paragraph("Published:"))
        blocks.append(
            Items(
                [
                    f"“{p.says}” — {p.source}{f': {p.url}' if p.url else ''}"
                    for p in setting.published
                ]
            )
        )
    return Section(f"setting-{setting.name}", setting.title, lead, blocks)


def _rest(tried: Tried) -> str:
    if tried.needs_blocks:
        return f"about {counted(tried.needs_blocks, 'block')} would settle it, of {tried.blocks}"
    return tried.reason
