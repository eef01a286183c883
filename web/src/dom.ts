// Elements made from text alone: nothing here, or elsewhere in the page, turns text into markup.

type Child = Node | string | null | undefined | false;
type Attributes = { readonly [name: string]: string | number | boolean | null | undefined };

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false) out.setAttribute(name, value === true ? "" : String(value));
  append(out, ...children);
  return out;
}

export function append(parent: Element, ...children: Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false) parent.append(child);
}

const kSvg = "http://www.w3.org/2000/svg";
export function svg(tag: string, attributes: Attributes = {}, ...children: Node[]): SVGElement {
  const out = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false) out.setAttribute(name, String(value));
  out.append(...children);
  return out;
}

export function button(label: string, attributes: Attributes, run: () => void): HTMLButtonElement {
  const out = el("button", { type: "button", ...attributes }, label);
  out.addEventListener("click", run);
  return out;
}

// A value that is not known, with the reason within reach of pointer, keyboard and screen reader.
export function absent(reason: string): HTMLElement {
  return el("span", { class: "absent", title: reason, role: "img", "aria-label": `not known: ${reason}` }, "–");
}
