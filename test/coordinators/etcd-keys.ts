import type { StartedServer } from '../engines/engine.ts'

export function endpointsOf({ server }: StartedServer): readonly string[] {
  return server.url.split(',')
}

/** Asks a member as anybody can, without the library. */
export async function post(endpoint: string, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${endpoint}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Deletes the key of a lease, as somebody does who cleans up. */
export function remove([endpoint = '']: readonly string[], name: string): Promise<unknown> {
  return post(endpoint, '/v3/kv/deleterange', { key: base64(`holdfast/leases/${name}`) })
}

/** Whether the key of a lease has an owner. */
export async function isOwned([endpoint = '']: readonly string[], name: string): Promise<boolean> {
  const range = { key: base64(`holdfast/leases/${name}`) }
  const { kvs = [] } = (await post(endpoint, '/v3/kv/range', range)) as {
    readonly kvs?: { value?: string }[]
  }
  return (kvs[0]?.value ?? '') !== ''
}
