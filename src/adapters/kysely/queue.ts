import type { Queue, QueueDefinition } from '../../locks/queue/queue-definition.ts'

/** A row as Kysely gives it: of a `ColumnType` or a `Generated`, the type that is selected. */
export type SelectedRow<T> = { readonly [C in keyof T]: SelectedValue<T[C]> }

type SelectedValue<V> = V extends { readonly __select__: infer S } ? S : V

/** A queue whose table and columns are those of a Kysely schema. */
export type KyselyQueueDefinition<DB, T extends keyof DB & string> = Omit<
  QueueDefinition<SelectedRow<DB[T]>>,
  'table'
> & {
  /** As in `selectFrom`: a dot stands between schema and table. */
  readonly table: T
}

/** Describes a table of the schema as a queue. */
export type KyselyQueue<DB> = <T extends keyof DB & string>(
  definition: KyselyQueueDefinition<DB, T>,
) => Queue<SelectedRow<DB[T]>>

/** What describes the queues of a schema, by what describes any. */
export function queuesOf<DB>(
  define: <R extends object>(definition: QueueDefinition<NoInfer<R>>) => Queue<R>,
): KyselyQueue<DB> {
  return <T extends keyof DB & string>({ table, ...rest }: KyselyQueueDefinition<DB, T>) =>
    define<SelectedRow<DB[T]>>({
      ...(rest as Omit<QueueDefinition<SelectedRow<DB[T]>>, 'table'>),
      table: table.split('.'),
    })
}
