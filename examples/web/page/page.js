// Draws, asks the model, and shows what it answers.
import { load } from "./wasi.js";

const SIDE = 8, INK = 16, SAMPLES = 8;
const [image, answer, samples, state] = ["image", "answer", "samples", "state"].map(id => document.getElementById(id));

const model = await load("web.wasm", text => console.error(text));

function message() {
    const bytes = [];
    for (let byte; (byte = model.page_message_byte(bytes.length)) !== 0;) bytes.push(byte);
    return new TextDecoder().decode(new Uint8Array(bytes));
}

const pixels = Array.from({ length: SIDE * SIDE }, () => image.appendChild(document.createElement("div")));
const digits = Array.from({ length: 10 }, (_, digit) => {
    const row = ["span", "div", "span"].map(tag => answer.appendChild(document.createElement(tag)));
    row[0].textContent = digit;
    row[1].className = "bar";
    return row;
});

function show() {
    const start = performance.now();
    const isRead = model.page_read();
    const taken = performance.now() - start;
    pixels.forEach((pixel, place) => pixel.style.setProperty("--part", model.page_pixel(place) / INK));
    const likely = digits.map((_, digit) => model.page_likelihood(digit));
    const best = likely.indexOf(Math.max(...likely));
    digits.forEach(([name, bar, text], digit) => {
        name.className = digit === best ? "likely" : "";
        bar.style.setProperty("--part", likely[digit]);
        text.textContent = `${(100 * likely[digit]).toFixed(1)} %`;
    });
    state.textContent = isRead ? `read as ${best}, in ${taken.toFixed(1)} ms` : message();
}

// A stroke darkens the pixel below the pointer, and a little those beside it.
function draw(event) {
    const box = image.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map(at => Math.floor(at / box.width * SIDE));
    for (let place = 0; place < SIDE * SIDE; place++) {
        const away = Math.abs(place % SIDE - x) + Math.abs(Math.floor(place / SIDE) - y);
        if (away <= 1) model.page_set_pixel(place, Math.max(model.page_pixel(place), away ? INK / 3 : INK));
    }
    show();
}

image.addEventListener("pointerdown", event => { image.setPointerCapture(event.pointerId); draw(event); });
image.addEventListener("pointermove", event => { if (event.buttons) draw(event); });

function button(text, act) {
    const made = samples.appendChild(document.createElement("button"));
    made.textContent = text;
    made.addEventListener("click", () => { act(); show(); });
}
for (let number = 0; number < SAMPLES; number++) button(`sample ${number + 1}`, () => model.page_take_sample(number));
button("clear", () => pixels.forEach((_, place) => model.page_set_pixel(place, 0)));

model.page_take_sample(0);
show();
