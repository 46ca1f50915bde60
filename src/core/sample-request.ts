import type { Category } from './category.ts'
import type { RequestOf } from './request.ts'

const target = { table: 'account', key: { id: 7 } } as const

/** A plain request for each category: what `explain` shows and the matrix is made from when nothing else is asked. */
export const sampleRequest: { readonly [C in Category]: RequestOf<C> } = {
  'row-exclusive': { target },
  'row-shared': { target },
  'skip-locked': { target },
  nowait: { target },
  'lock-timeout': { target, wait: { timeoutMs: 2000 } },
  advisory: { key: ['report', 7] },
  table: { table: 'account' },
}
