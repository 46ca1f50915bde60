import type { DocumentCommand } from '../../core/statement.ts'
import type { Fixture } from '../tools.ts'

const update = (table: string, id: number, u: Readonly<Record<string, unknown>>): DocumentCommand => ({
  command: { update: table, updates: [{ q: { _id: id }, u }] },
})

/** Documents whose `_id` is the number that the others call `id`; it is kept under that name too. */
export const fixture: Fixture = {
  create: (table) => ({ command: { create: table } }),
  createQueue: (table) => ({ command: { create: table } }),
  drop: (table) => ({ command: { drop: table } }),
  insert: (table, row) => ({ command: { insert: table, documents: [{ _id: row.id, ...row }] } }),
  read: (table, id) => ({ command: { find: table, filter: { _id: id }, projection: { n: 1 } } }),
  all: (table) => ({ command: { find: table, sort: { _id: 1 }, batchSize: 10_000 } }),
  write: (table, id, n) => update(table, id, { $set: { n } }),
  delete: (table, id) => ({ command: { delete: table, deletes: [{ q: { _id: id }, limit: 1 }] } }),
  add: (table, id, by) => update(table, id, { $inc: { n: by } }),
  target: (table, ids) => ({ table, key: { _id: ids } }),
}
