import type { Deal } from './deal.ts'
import type { Shop } from './shop.ts'

export interface Upload {
  readonly code: string
  readonly user: number
  readonly size: number
}

/** What one user may store. */
export const cap = 100

export async function openStorage(shop: Shop): Promise<void> {
  await shop.create('upload', ['code', 'user_id', 'size'])
}

/**
 * Stores a file unless the user's files would then be too much together. Says whether it did.
 *
 * There is no row that all uploads of a user share: only a lock by name can tell two of them of each other.
 */
export function upload(shop: Shop, { code, user, size }: Upload): Deal {
  return {
    writes: 'add',
    name: ['image-upload', user],
    look: ({ plain }) => plain({ table: 'upload', key: { user_id: user } }),
    act: async (tx, files) => {
      const used = files.reduce((sum, file) => sum + Number(file.size), 0)
      if (used + size > cap) return false
      await shop.add(tx, 'upload', { code, user_id: user, size })
      return true
    },
  }
}

/** What each user has stored, by the user's number. */
export async function storedByUser(shop: Shop): Promise<ReadonlyMap<number, number>> {
  const stored = new Map<number, number>()
  for (const { user_id, size } of await shop.all('upload')) {
    stored.set(Number(user_id), (stored.get(Number(user_id)) ?? 0) + Number(size))
  }
  return stored
}
