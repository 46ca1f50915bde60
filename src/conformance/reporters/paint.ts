import { styleText } from 'node:util'

import type { MatrixCell } from '../report.ts'

export type Style = Parameters<typeof styleText>[0]

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style | undefined, text: string) => string

/** Whoever calls knows whether there are colours: Node's own guess would make the same report look different. */
export function painter(hasColour: boolean): Paint {
  return (style, text) =>
    hasColour && style !== undefined ? styleText(style, text, { validateStream: false }) : text
}

export type CellState = MatrixCell['state']

export const stateStyles: Readonly<Record<CellState, Style>> = {
  native: 'green',
  stronger: 'cyan',
  emulated: 'blue',
  unsupported: 'gray',
  refused: 'yellow',
  broken: ['bold', 'white', 'bgRed'],
  untested: 'gray',
}
