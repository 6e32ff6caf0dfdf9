/** Makes and finds elements. Data becomes text nodes and attributes only; the page's policy forbids markup from strings. */

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Attributes that are `false` or `undefined` are left out. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

export function makeButton(text: string, attributes: Attributes, onClick: () => void): HTMLButtonElement {
  const button = make('button', { type: 'button', ...attributes }, text);
  button.addEventListener('click', onClick);
  return button;
}

/** Of index.html: one that is missing is a defect. */
export function requireElement<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} "${id}"`);
  return element;
}

/** Touches the document only where something is new: a text that is selected stays so. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes `wanted` the children of a parent, in this order; those that stay keep focus, selection and scroll. */
export function arrange(parent: Element, wanted: readonly Element[]): void {
  const stays = new Set(wanted);
  for (const child of Array.from(parent.children)) if (!stays.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}
