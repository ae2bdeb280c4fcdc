/* reference.js - search in the HTML reference; INDEX is put in front of it */

/* Rows that contain every word of the query, the best first. */
function search(index, query, limit) {
    const words = query.toLowerCase().split(/[\s()]+/).filter(Boolean);
    if (words.length === 0)
        return [];
    const rank = ([name, kind]) => {
        const low = name.toLowerCase();
        const place = low === words[0] ? 0 : low.startsWith(words[0]) ? 1 :
            low.includes(words[0]) ? 2 : 3;
        const minor = kind === "member" || kind === "constant";
        return place * 2 + (minor ? 1 : 0);
    };
    return index
        .filter(([name, kind, , summary]) => {
            const all = (name + " " + kind + " " + summary).toLowerCase();
            return words.every((word) => all.includes(word));
        })
        .map((row, place) => [rank(row), place, row])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1])
        .slice(0, limit)
        .map((found) => found[2]);
}

function show(list, rows) {
    list.replaceChildren(...rows.map(([name, kind, href, summary]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        const about = document.createElement("small");
        link.href = href;
        link.textContent = name;
        about.textContent = " " + kind + (summary ? ": " + summary : "");
        link.append(about);
        item.append(link);
        return item;
    }));
}

if (typeof document !== "undefined") {
    const query = document.getElementById("query");
    const found = document.getElementById("found");
    query.addEventListener("input", () =>
        show(found, search(INDEX, query.value, 30)));
    query.addEventListener("keydown", (event) => {
        const first = found.querySelector("a");
        if (event.key === "Enter" && first)
            location.href = first.href;
        if (event.key === "Escape")
            query.value = "", show(found, []);
    });
    found.addEventListener("click", () => show(found, []));
}
