import type { Deal } from './deal.ts'
import type { Shop } from './shop.ts'

export interface Order {
  readonly code: string
  readonly quantity: number
}

const shelf = { table: 'item', key: { id: 1 } } as const

export async function openStoreRoom(shop: Shop, units: number): Promise<void> {
  await shop.create('item', ['id', 'stock'])
  await shop.create('movement', ['code', 'quantity'])
  await shop.add(undefined, 'item', { id: 1, stock: units })
}

/** Takes units from the stock when there are enough of them, and notes the movement. Says whether it did. */
export function order(shop: Shop, { code, quantity }: Order): Deal {
  return {
    writes: 'change',
    look: ({ guarded }) => guarded(shelf),
    act: async (tx, [item]) => {
      const left = Number(item?.stock) - quantity
      if (left < 0) return false
      await shop.change(tx, shelf, { stock: left })
      await shop.add(tx, 'movement', { code, quantity })
      return true
    },
  }
}

/** How many units there are in the stock, and how many were sold according to the movements. */
export async function countStock(shop: Shop): Promise<Stock> {
  const [item] = await shop.find(undefined, shelf)
  const movements = await shop.all('movement')
  return {
    left: Number(item?.stock),
    sold: movements.reduce((sum, { quantity }) => sum + Number(quantity), 0),
    orders: movements.map(({ code }) => String(code)).toSorted(),
  }
}

export interface Stock {
  readonly left: number
  readonly sold: number
  /** The orders that have a movement, in order. */
  readonly orders: readonly string[]
}
