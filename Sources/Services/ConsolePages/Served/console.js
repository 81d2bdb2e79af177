"use strict";
// A form is sent once: a second click, while the first is on its way, does nothing.
document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
});
// A page that the browser has kept is as it was before.
window.addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
    for (const block of document.querySelectorAll("[data-stream]")) if (!block.dataset.followed) follow(block);
    for (const block of document.querySelectorAll("[data-fresh]")) if (!block.dataset.followed) watch(block);
    for (const form of document.querySelectorAll("form.steps")) slide(form);
});
function button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
}
// Numbers go on by a stream of events: what stands in data-live is the path of a value in each. Without a script they are those of the page.
// They rest while a reader wants it, and while nobody sees the page.
function follow(block) {
    block.dataset.followed = "yes";
    let [stream, paused] = [null, false];
    const stop = () => {
        stream?.close();
        stream = null;
    };
    const go = () => {
        if (stream || paused || document.hidden) return;
        stream = new EventSource(block.dataset.stream);
        stream.addEventListener("overview", (event) => show(block, JSON.parse(event.data)));
    };
    const pause = button(block.dataset.pause, () => {
        paused = !paused;
        pause.textContent = paused ? block.dataset.resume : block.dataset.pause;
        pause.setAttribute("aria-pressed", paused);
        if (paused) stop();
        else go();
    });
    pause.setAttribute("aria-pressed", false);
    block.append(pause);
    document.addEventListener("visibilitychange", () => (document.hidden ? stop() : go()));
    window.addEventListener("pagehide", stop);
    window.addEventListener("pageshow", go);
    go();
}
// A value in what was sent, by its path, and what holds it. A line of a list is known by its number or its state.
function look(sent, path) {
    let [holder, value] = [null, sent];
    for (const name of path.split(".")) {
        holder = value;
        const isList = Array.isArray(value);
        value = isList ? value.find((line) => `${line.id ?? line.state}` === name) : value?.[name];
    }
    return [holder, value];
}
// Whether something was typed that another load of the page would lose.
function isTyped() {
    const fields = [...document.querySelectorAll("main form :is(input:not([type=hidden]), textarea)")];
    return fields.some((field) => field.value !== field.defaultValue);
}
function show(block, sent) {
    // Where a page goes by a value that is another one by now, it is loaded again, or offers that where something was typed.
    if (block.dataset.while && look(sent, block.dataset.while)[1] !== block.dataset.is) {
        const again = () => location.replace(block.dataset.place);
        if (!isTyped()) return again();
        if (!block.dataset.offered) block.append(button(block.dataset.again, again));
        block.dataset.offered = "yes";
        return;
    }
    for (const place of block.querySelectorAll("[data-live]")) {
        const [holder, value] = look(sent, place.dataset.live);
        const time = place.closest("time");
        if (time && typeof value === "string") {
            time.dateTime = time.title = value;
            // The one language that writes a time as the pages do.
            const zone = document.body.dataset.zone;
            place.textContent = new Date(value).toLocaleString("sv-SE", { timeZone: zone });
            continue;
        }
        const text = typeof value === "number" ? value.toLocaleString("en-US") : "–";
        // The counts alone have a bound: an age beside one has none.
        const path = place.dataset.live;
        const isMore =
            (holder?.isMore === true && path.endsWith(".count")) ||
            (holder?.isMoreReceived === true && /\.received(PerSecond)?$/.test(path));
        place.textContent = isMore ? block.dataset.more.replace("{number}", text) : text;
    }
}
// A list stays as it is under the pointer. What is new in it is counted every half minute, and shown where the reader asks for it. Nothing is
// counted while nobody sees the page or has touched it for five minutes: to look on is no reason to stay logged in.
let touched = Date.now();
for (const kind of ["pointermove", "keydown", "scroll"]) {
    document.addEventListener(kind, () => (touched = Date.now()), { passive: true });
}
function watch(block) {
    block.dataset.followed = "yes";
    const keys = (of) => [...of.querySelectorAll("tbody tr")].map((row) => row.cells[0]?.textContent.trim() ?? "");
    const place = block.querySelector(".fresh");
    setInterval(async () => {
        if (document.hidden || Date.now() - touched > 300000) return;
        const answer = await fetch(block.dataset.fresh).catch(() => null);
        if (!answer?.ok || answer.redirected) return;
        const other = new DOMParser().parseFromString(await answer.text(), "text/html");
        const list = other.querySelector("[data-fresh]");
        if (!list) return;
        const known = new Set(keys(block));
        const all = keys(list);
        const count = all.filter((key) => !known.has(key)).length;
        if (count === 0) return;
        const number = count === all.length && count >= 25 ? `${count}+` : `${count}`;
        place.replaceChildren(button(block.dataset.new.replace("{number}", number), () => location.reload()));
    }, 30000);
}
// Instants to choose from become a slider; the list stays beside it.
function slide(form) {
    if (form.querySelector("input[type=range]")) return;
    const list = form.querySelector("select");
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    slider.max = list.options.length - 1;
    // The first choice is now: it stands behind all others.
    const at = (place) => (place === Number(slider.max) ? 0 : place + 1);
    slider.value = list.selectedIndex === 0 ? slider.max : list.selectedIndex - 1;
    slider.setAttribute("aria-label", form.querySelector("label").textContent);
    const tell = () => {
        list.selectedIndex = at(Number(slider.value));
        slider.setAttribute("aria-valuetext", list.options[list.selectedIndex].text);
    };
    slider.addEventListener("input", tell);
    slider.addEventListener("change", () => form.requestSubmit());
    slider.setAttribute("aria-valuetext", list.options[list.selectedIndex].text);
    list.after(slider);
}
