import type { Deal } from './deal.ts'
import type { Shop } from './shop.ts'

export interface Purchase {
  readonly item: number
  readonly buyer: number
}

export async function openShowcase(shop: Shop, items: number): Promise<void> {
  await shop.create('single', ['id', 'price'])
  await shop.create('sale', ['code', 'item_id'])
  for (let id = 1; id <= items; id += 1) await shop.add(undefined, 'single', { id, price: 10 })
}

/**
 * Sells an item of which there is one, unless a sale of it is on record. Says whether it did.
 *
 * The item itself is not written: nothing but the lock on it tells two buyers of each other.
 */
export function buy(shop: Shop, { item, buyer }: Purchase): Deal {
  return {
    writes: 'add',
    look: async ({ guarded, plain }) => {
      await guarded({ table: 'single', key: { id: item } })
      return plain({ table: 'sale', key: { item_id: item } })
    },
    act: async (tx, sales) => {
      if (sales.length > 0) return false
      await shop.add(tx, 'sale', { code: `${item}/${buyer}`, item_id: item })
      return true
    },
  }
}

/** The sales of each item, by its number. */
export async function salesByItem(shop: Shop): Promise<ReadonlyMap<number, number>> {
  const sales = new Map<number, number>()
  for (const { item_id } of await shop.all('sale')) {
    sales.set(Number(item_id), (sales.get(Number(item_id)) ?? 0) + 1)
  }
  return sales
}
