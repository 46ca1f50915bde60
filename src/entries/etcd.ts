import { meetCoordinator, type Coordinator } from '../coordinator.ts'
import { errors } from '../coordinators/etcd/errors.ts'
import { createGateway, type EtcdAuth, type EtcdFetch } from '../coordinators/etcd/gateway.ts'
import { leaseCommands } from '../coordinators/etcd/lease.ts'
import { sessions } from '../coordinators/etcd/sessions.ts'
import { checkObject, onlyKnown, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'

export type { EtcdAuth, EtcdFetch, EtcdRequest, EtcdResponse } from '../coordinators/etcd/gateway.ts'
export type { Coordinator, LeaseInspectOptions } from '../coordinator.ts'
export type * from '../result-types.ts'

/** Which etcd cluster keeps the leases. */
export interface EtcdLeasesOptions {
  /** The addresses of its members, as in `['http://10.0.0.1:2379', 'http://10.0.0.2:2379']`. */
  readonly endpoints: readonly string[]
  /** Who logs in, where the cluster wants that. */
  readonly auth?: EtcdAuth
  /** What the names of its keys begin with. All who share leases need the same. @default 'holdfast/leases/' */
  readonly prefix?: string
  /** For certificates of your own, a proxy or a test. @default Node's */
  readonly fetch?: EtcdFetch
}

/**
 * Leases on an etcd cluster, through the JSON gateway that every member has: there is no client to install.
 *
 * They are etcd's own leases, so they last for whole seconds, and are kept by most members or not at all. The fencing token
 * is the cluster's revision.
 */
export function createLeases(options: EtcdLeasesOptions): Coordinator {
  const { endpoints, auth, prefix, fetch } = check(options)
  const gateway = createGateway({ endpoints: endpoints.map(withoutSlash), auth, fetch })
  return meetCoordinator({ name: 'etcd', errors, lease: leaseCommands(prefix) }, sessions(gateway))
}

function check(options: EtcdLeasesOptions): {
  readonly endpoints: readonly string[]
  readonly auth: EtcdAuth | undefined
  readonly prefix: string
  readonly fetch: EtcdFetch
} {
  onlyKnown(options, ['endpoints', 'auth', 'prefix', 'fetch'])
  const { endpoints, auth, prefix = 'holdfast/leases/', fetch = globalThis.fetch } = options
  checkEndpoints(endpoints)
  if (typeof prefix !== 'string' || prefix === '')
    throw new LockUsageError('prefix', `${show(prefix)} is not a text that keys can begin with`)
  if (auth !== undefined) checkAuth(auth)
  return { endpoints, auth, prefix, fetch }
}

function checkAuth(auth: EtcdAuth): void {
  checkObject('auth', auth, ['user', 'password'])
  // what was given is not shown: it may be the password
  if (typeof auth.user !== 'string' || typeof auth.password !== 'string')
    throw new LockUsageError('auth', 'needs a user and a password, both texts')
}

function checkEndpoints(endpoints: readonly unknown[]): void {
  const why =
    Array.isArray(endpoints) && endpoints.length > 0
      ? endpoints.map(whyNoAddress).find((reason) => reason !== undefined)
      : 'must be a list of addresses'
  if (why !== undefined) throw new LockUsageError('endpoints', `${why}, as in ['http://10.0.0.1:2379']`)
}

/** What is wrong with it. It is not shown: there may be a password in it. */
function whyNoAddress(endpoint: unknown): string | undefined {
  const url = typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (/^(?:redis|valkey)s?:/.test(url?.protocol ?? ''))
    return "has the address of a Redis, whose leases are in 'holdfast/redis': must be a list of addresses of etcd"
  if (!/^https?:/.test(url?.protocol ?? ''))
    return 'must be a list of addresses, each with http:// or https://'
  return url?.username === '' && url.password === ''
    ? undefined
    : 'must be a list of addresses without a password, which goes into auth'
}

function withoutSlash(endpoint: string): string {
  return endpoint.replace(/\/+$/, '')
}
