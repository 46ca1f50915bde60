/** One way to sell one piece: lock the article's row, look whether there is one left, and count it down. */
export interface Shop {
  readonly sell: (article: number) => Promise<void>
  readonly close: () => Promise<void>
}

export type StockEngine = 'postgres' | 'mysql' | 'mariadb'

/** Where a way leads, and how many connections it may have. */
export interface Place {
  readonly engine: StockEngine
  readonly url: string
  readonly connections: number
}

export function checkLeft(pieces: number | undefined): void {
  if (pieces === undefined || pieces < 1) throw new Error('sold out')
}
