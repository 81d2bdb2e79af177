"use strict";
// What a page is for people who read it with their eyes or go through it by keys, as the browser computes it. `inspect()` and `focusFaults()`
// return lists of sentences, one a fault.

// A colour as numbers: `rgb(1, 2, 3)`, `rgba(1, 2, 3, 0.5)`, or `color(srgb 0.1 0.2 0.3 / 0.5)`, as computed styles have it.
function colourOf(text) {
    if (text.startsWith("color(") && !text.startsWith("color(srgb ")) throw new Error("a colour that is not read: " + text);
    const numbers = (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return { parts: numbers.slice(0, 3).map((number) => number * scale), alpha: numbers[3] ?? 1 };
}

function over(front, back) {
    const mixed = front.parts.map((part, place) => part * front.alpha + back.parts[place] * (1 - front.alpha));
    return { parts: mixed, alpha: 1 };
}

// What an element stands on: its own ground and those behind it, from the front to the first that nothing shines through.
function groundOf(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
        const layer = colourOf(getComputedStyle(at).backgroundColor);
        if (layer.alpha > 0) layers.push(layer);
        if (layer.alpha >= 1) break;
    }
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    return layers.reduceRight((back, front) => over(front, back), { parts: canvas, alpha: 1 });
}

// WCAG 2.2, relative luminance and contrast ratio.
function luminanceOf(colour) {
    const [red, green, blue] = colour.parts.map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(colour, ground) {
    const [low, high] = [luminanceOf(over(colour, ground)), luminanceOf(ground)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
}

function isShown(element) {
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
}

function nameOf(element) {
    const name = element.getAttribute("name") ?? element.id;
    return element.tagName.toLowerCase() + (name ? "[" + name + "]" : "") + (element.className?.toString() ? "." + element.className : "");
}

function inspect() {
    const faults = new Set();
    const expect = (colour, element, least, what) => {
        const found = contrastOf(colourOf(colour), groundOf(element));
        if (found < least) faults.add(`contrast ${found.toFixed(2)} and not ${least} of ${what} (${nameOf(element)})`);
    };
    // Text of 24 px, or of 18.66 px in bold, is large (WCAG 2.2, 1.4.3).
    const leastOf = (style) => {
        const size = parseFloat(style.fontSize);
        return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        const text = node.nodeValue.trim();
        if (!text || element.closest("script, title, desc, option, datalist") || !isShown(element)) continue;
        const style = getComputedStyle(element);
        expect(element instanceof SVGElement ? style.fill : style.color, element, leastOf(style), `“${text.slice(0, 40)}”`);
    }
    for (const element of document.querySelectorAll("body *")) {
        if (!isShown(element)) continue;
        const before = getComputedStyle(element, "::before");
        if (!["none", "normal", '""'].includes(before.content)) expect(before.color, element, leastOf(before), before.content);
        if (element.matches("input:not([type=hidden]), select, textarea")) {
            if (element.placeholder) {
                const hint = getComputedStyle(element, "::placeholder");
                expect(hint.color, element, 4.5, `the placeholder “${element.placeholder}”`);
            }
            if (element.type !== "checkbox") expect(getComputedStyle(element).borderTopColor, element.parentElement, 3, "the border");
        }
    }
    if (!document.documentElement.lang) faults.add("the page has no language");
    if (!document.title.trim()) faults.add("the page has no title");
    if (document.querySelectorAll("h1").length !== 1) faults.add("there is not one h1");
    let level = 0;
    for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
        const own = Number(heading.tagName[1]);
        if (own > level + 1) faults.add(`a heading of level ${own} comes after one of level ${level}`);
        level = own;
    }
    const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
    for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) faults.add(`the id ${id} is there twice`);
    for (const element of document.querySelectorAll("[tabindex]")) {
        if (element.tabIndex > 0) faults.add(`${nameOf(element)} goes before its turn`);
    }
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth + 1) faults.add(`the page is ${width} wide and its window ${innerWidth}`);
    return Array.from(faults);
}

// All that the tabulator reaches, in the order of the page.
function stopsOfPage() {
    return Array.from(document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")).filter(
        (element) =>
            (element.tabIndex >= 0 || element.matches("details > summary")) &&
            !element.disabled && element.type !== "hidden" && element.checkVisibility({ visibilityProperty: true }),
    );
}

// Notes where the focus goes from now on; returns how often the tabulator has to be pressed to come past the last place. A field for an
// instant or a day has several places of its own.
function beginTabbing() {
    window.stops = stopsOfPage();
    window.reached = [];
    window.unmarked = new Set();
    document.addEventListener("focusin", (event) => {
        window.reached.push(window.stops.indexOf(event.target));
        const style = getComputedStyle(event.target);
        const isMarked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
        const ground = groundOf(event.target.parentElement);
        if (!isMarked || contrastOf(colourOf(style.outlineColor), ground) < 3) window.unmarked.add(nameOf(event.target));
    });
    const parts = { "datetime-local": 8, date: 5, time: 4 };
    return window.stops.length + window.stops.reduce((sum, stop) => sum + (parts[stop.type] ?? 0), 0) + 2;
}

function focusFaults() {
    const faults = Array.from(window.unmarked, (name) => `the focus is not seen on ${name}`);
    const count = window.stops.length;
    for (let place = 0; place < count; place++) {
        if (window.reached[place] === place) continue;
        const names = [place, window.reached[place]].map((stop) => (window.stops[stop] ? nameOf(window.stops[stop]) : "nothing that is known"));
        faults.push(`place ${place} of ${count}: the tabulator should lead to ${names[0]}, and leads to ${names[1]}`);
        break;
    }
    if (count > 1 && document.activeElement === window.stops[count - 1]) faults.push("the focus cannot leave the last place");
    return faults;
}
