"use strict";
// A form is sent once: a second click, while the first is on its way, does nothing.
document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
});
// A page that the browser has kept is as it was before.
window.addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
    for (const block of document.querySelectorAll("[data-stream]")) follow(block);
});
// Numbers go on by a stream of events: what stands in data-live is the path of a value in each. Without a script they are those of the page.
function follow(block) {
    const stream = new EventSource(block.dataset.stream);
    window.addEventListener("pagehide", () => stream.close(), { once: true });
    stream.addEventListener("overview", (event) => {
        const sent = JSON.parse(event.data);
        for (const place of block.querySelectorAll("[data-live]")) {
            let [holder, value] = [null, sent];
            for (const name of place.dataset.live.split(".")) {
                holder = value;
                value = Array.isArray(value) ? value.find((line) => line.state === name) : value?.[name];
            }
            const text = typeof value === "number" ? value.toLocaleString("en-US") : "–";
            place.textContent = holder?.isMore === true ? text + "+" : text;
        }
    });
}
