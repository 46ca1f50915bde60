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

/** From here on the cluster wants a login: `app` may have leases, `guest` nothing. Each has its name in its password. */
export async function enableAuth([at = '']: readonly string[]): Promise<void> {
  for (const name of ['root', 'app', 'guest']) {
    await post(at, '/v3/auth/user/add', { name, password: `${name}-secret` })
  }
  await post(at, '/v3/auth/role/add', { name: 'root' })
  await post(at, '/v3/auth/user/grant', { user: 'root', role: 'root' })
  await post(at, '/v3/auth/role/add', { name: 'leases' })
  const perm = {
    permType: 'READWRITE',
    key: base64('holdfast/leases/'),
    range_end: base64('holdfast/leases0'),
  }
  await post(at, '/v3/auth/role/grant', { name: 'leases', perm })
  await post(at, '/v3/auth/user/grant', { user: 'app', role: 'leases' })
  await post(at, '/v3/auth/enable', {})
}
