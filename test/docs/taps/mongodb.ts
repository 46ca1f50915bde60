import { BSON, MongoClient, type CommandStartedEvent } from 'mongodb'

import { before, tapState, type Tap } from './tap.ts'

/** The driver tells of its commands when a client is told, before it connects, to do so. */
export function openTap(): Tap {
  const { hear, note, tap } = tapState<MongoClient>((one) => one.close())
  const heard = new WeakSet<MongoClient>()
  before(MongoClient.prototype, 'connect', (client: MongoClient) => {
    if (heard.has(client)) return
    heard.add(client)
    note(client)
    Object.assign(client, { monitorCommands: true })
    client.on('commandStarted', ({ command }: CommandStartedEvent) => hear(asJson(command)))
  })
  return tap
}

/** As JSON shows it: numbers as numbers, other values by their extended form. */
function asJson(command: object): Readonly<Record<string, unknown>> {
  return JSON.parse(BSON.EJSON.stringify(command, { relaxed: true })) as Record<string, unknown>
}
