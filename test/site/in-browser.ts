// These run in the browser. They name what they read, because the types of its world are not those of Node.

interface Picture {
  readonly src: string
  readonly naturalWidth: number
}

interface Widths {
  readonly scrollWidth: number
  readonly clientWidth: number
}

interface Styles {
  readonly fontSize: string
  readonly backgroundColor: string
}

export function picturesOf(images: readonly unknown[]): readonly Picture[] {
  return (images as readonly Picture[]).map(({ src, naturalWidth }) => ({ src, naturalWidth }))
}

export function widthsOf({ scrollWidth, clientWidth }: Widths): Widths {
  return { scrollWidth, clientWidth }
}

export function allWidthsOf(elements: readonly Widths[]): readonly Widths[] {
  return elements.map(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))
}

export function fontSizeOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { readonly getComputedStyle: (of: unknown) => Styles }
  return getComputedStyle(element).fontSize
}

export function colourOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { readonly getComputedStyle: (of: unknown) => Styles }
  return getComputedStyle(element).backgroundColor
}

/** Vue notes itself on the element when it has taken over what the server has drawn. */
export function isAlive(): boolean {
  const { document } = globalThis as unknown as {
    readonly document: { querySelector(selector: string): object | null }
  }
  return '__vue_app__' in (document.querySelector('#app') ?? {})
}
