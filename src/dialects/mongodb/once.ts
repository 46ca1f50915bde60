import type { DocumentCommand } from '../../core/statement.ts'
import type { OnceStatements } from '../once.ts'

const collection = '_once'

/** For those who delete old marks. The collection itself comes to be with the first mark. */
const index: DocumentCommand = {
  command: {
    createIndexes: collection,
    indexes: [{ key: { made_at: 1 }, name: 'holdfast_age' }],
    writeConcern: { w: 'majority' },
  },
}

/**
 * Gives the document as it was before. One that is there stays as it is, so that nobody conflicts with those who only
 * find it; an insert would be an error that ends the transaction.
 */
export const once: OnceStatements = {
  schema: [index],
  mark: (name) => ({
    command: {
      findAndModify: collection,
      query: { _id: name },
      update: [{ $set: { made_at: { $ifNull: ['$made_at', { $toLong: '$$NOW' }] } } }],
      upsert: true,
    },
  }),
  isFirst: (rows) => rows.length === 0,
  refusals: { 'write-conflict': 'held', 'unique-violation': 'held', busy: 'held' },
}
