"""report.py - the table, the chart and the published copies of the results"""
import math
import os
import re
import textwrap

import install

# row: what a reader calls it, its unit
TITLES = {
    "one": ("one-event request, connection reused", "µs"),
    "many": ("saturated stream, per event", "µs"),
    "paced": ("paced stream, 50 at once, per event", "µs"),
    "args": ("tool arguments, per event", "µs"),
    "history": ("history, per 400-byte message sent", "µs"),
    "tools": ("tool loop of 3, per turn", "µs"),
    "start": ("process with one request, http", "ms"),
    "https": ("process with one request, https", "ms"),
    "hold1000": ("memory per stream, 1,000 held open", "KB"),
    "hold10000": ("memory per stream, 10,000 held open", "KB"),
}
PANELS = ["one", "many", "start", "hold1000"]


def number(value):
    if value >= 100:
        return "{:,.0f}".format(value)
    return "%.1f" % value if value >= 10 else "%.2f" % value


def cell_text(cell):
    if not cell or "median" not in cell:
        return "failed" if cell and "error" in cell else "–"
    text = number(cell["median"])
    if len(cell["values"]) < 2:
        return text
    share = 100 * cell["spread"] / cell["median"] if cell["median"] else 0
    return "%s ±%.0f%%" % (text, share)


def table(result):
    """Markdown: one line for each client, one column for each row."""
    rows = [r for r in TITLES if r in result["rows"]]
    lines = ["| client | " + " | ".join(
        "%s (%s)" % TITLES[r] for r in rows) + " |",
        "|---|" + "---:|" * len(rows)]
    for c in result["clients"]:
        cells = [cell_text(result["rows"][r].get(c["key"])) for r in rows]
        name = "**allm**" if c["name"] == "allm" else c["name"]
        lines.append("| %s %s (%s) | %s |" % (
            name, c["version"], c["language"], " | ".join(cells)))
    return "\n".join(lines)


def proof(result):
    """How far the server is from its limits."""
    one, many = result["server"]["one"], result["server"]["many"]
    text = ("A reader that discards everything gets %s answers of one event, "
            "or %s events of a saturated stream, per second; they cost the "
            "server %.0f µs of CPU per answer and %.2f µs per event." % (
                "{:,.0f}".format(one["per_second"]),
                "{:,.0f}".format(many["per_second"] * 20000), one["cpu_us"],
                many["cpu_us"] / 20000))
    busy = list(result["server_busy"].values())
    if busy:
        text += (" In no row did the server use more than %.0f %% of a core."
                 % math.ceil(100 * max(busy)))
    return text


def remarks(result):
    m, t = result["machine"], result["tools"]
    text = "Measured on %s: %s, %d cores, %d GB, %s, load " \
        "average %.1f; %s; at most %d rounds." % (
        result["date"], m["system"], m["cores"], m["memory_gb"], m["libc"],
        m["load"],
        ", ".join("%s %s" % kv for kv in sorted(t.items())), result["rounds"])
    if result.get("cores_awake"):
        text += " The cores were kept awake."
    small = sorted({"%s (%s)" % (name, TITLES[row][0].split(",")[0])
                    for row, cells in result["rows"].items()
                    for name, cell in cells.items() if "size" in cell})
    if small:
        text += " With a smaller workload, since the usual one takes too " \
            "long: %s." % ", ".join(small)
    if result["missing"]:
        text += " Could not be installed: %s." % ", ".join(result["missing"])
    return textwrap.fill(text + " " + proof(result), 80)


def failures(result):
    lines = []
    for row, cells in result["rows"].items():
        for name, cell in cells.items():
            if "error" in cell:
                lines.append("* %s, %s: %s" % (name, TITLES[row][0],
                                               cell["error"]))
    return "\n".join(lines)


# ------------------------------------------------------------------ chart ---

BAR, LEFT, WIDTH, TOP = 16, 150, 480, 44
STYLE = ("text{font:11px system-ui,sans-serif;fill:#333}"
         ".t{font-weight:600;font-size:13px}.v{fill:#555}"
         ".b{fill:#b8c2cc}.a{fill:#2f7d5b}")


def panel(result, row, x, y):
    """Horizontal bars on a logarithmic scale, the shortest first."""
    found = [(result["rows"][row][c["key"]], c) for c in result["clients"]
             if "median" in result["rows"][row].get(c["key"], {})]
    found.sort(key=lambda pair: pair[0]["median"])
    values = [max(cell["median"], 1e-3) for cell, _ in found]
    low = math.log10(min(values)) - 0.3
    scale = (WIDTH - LEFT - 80) / (math.log10(max(values)) - low)
    out = ['<text class="t" x="%d" y="%d">%s (%s, logarithmic)</text>' % (
        x, y + 16, TITLES[row][0], TITLES[row][1])]
    for i, (cell, client) in enumerate(found):
        at = y + 28 + i * (BAR + 4)
        long = max(2, (math.log10(max(cell["median"], 1e-3)) - low) * scale)
        out.append(
            '<text x="%d" y="%d" text-anchor="end">%s</text>'
            '<rect class="%s" x="%d" y="%d" width="%.0f" height="%d"/>'
            '<text class="v" x="%.0f" y="%d">%s</text>' % (
                x + LEFT - 6, at + 12, client["key"],
                "a" if client["name"] == "allm" else "b", x + LEFT, at, long,
                BAR, x + LEFT + long + 5, at + 12,
                number(cell["median"])))
    return "\n".join(out), 40 + len(found) * (BAR + 4)


def chart(result):
    parts, y = [], TOP
    rows = [r for r in PANELS if r in result["rows"]]
    for i in range(0, len(rows), 2):
        drawn = [panel(result, row, 10 + WIDTH * k, y)
                 for k, row in enumerate(rows[i:i + 2])]
        parts += [text for text, _ in drawn]
        y += max(height for _, height in drawn) + 10
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'viewBox="0 0 %d %d">\n<style>%s</style>\n'
            '<rect width="100%%" height="100%%" fill="#fff"/>\n'
            '<text class="t" x="10" y="24">CPU time, start and memory of '
            'clients that read the same bytes (%s); shorter is better</text>\n'
            '%s\n</svg>\n' % (2 * WIDTH + 20, y, 2 * WIDTH + 20, y, STYLE,
                              result["date"], "\n".join(parts)))


# ---------------------------------------------------------------- publish ---

def replace_block(path, text):
    """Replaces what is between the markers of a document."""
    with open(path) as f:
        old = f.read()
    new = re.sub(r"(<!-- peers: begin -->\n).*?(<!-- peers: end -->)",
                 lambda m: m.group(1) + text + "\n" + m.group(2), old,
                 flags=re.S)
    with open(path, "w") as f:
        f.write(new)


def write(result, publish):
    text = table(result) + "\n\n" + remarks(result)
    failed = failures(result)
    whole = text + ("\n\nFailed:\n\n" + failed if failed else "")
    with open(os.path.join(install.OUT, "peers.md"), "w") as f:
        f.write(whole + "\n")
    svg = chart(result)
    with open(os.path.join(install.OUT, "peers.svg"), "w") as f:
        f.write(svg)
    print(whole)
    if publish:
        with open(os.path.join(install.ROOT, "docs", "peers.svg"), "w") as f:
            f.write(svg)
        for name in ("README.md", "docs/performance.md"):
            replace_block(os.path.join(install.ROOT, name), whole)
    return 0
