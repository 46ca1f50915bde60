import type { StatementEvent } from '../events/shapes.ts'

/** Whether it is the statement by which Holdfast ends a transaction: the work itself may send none such. */
export function endsTransaction({ text }: Pick<StatementEvent, 'text'>): boolean {
  return text === 'COMMIT' || text === 'ROLLBACK'
}
