import { join } from 'node:path'

import { debianRoot, type DebianRoot } from './debian-root.ts'
import type { StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { privateFolder } from './private-folder.ts'
import { startServer } from './start-server.ts'

/** The members of one cluster, each a server of its own. The address of all is `server.url`, with commas between. */
export interface StartedCluster extends StartedServer {
  readonly members: readonly StartedServer[]
}

interface Member {
  readonly name: string
  readonly client: string
  readonly peer: string
}

/** Starts a cluster on loopback, with a leader that is missed soon: after half a second. */
export async function startEtcd(size = 1): Promise<StartedCluster> {
  const root = await debianRoot({
    name: 'etcd-debian-bookworm',
    suite: 'bookworm',
    packages: ['etcd-server'],
  })
  const all = await Promise.all(Array.from({ length: size }, (_, index) => memberAt(index)))
  // a member is ready when most of them are
  const started = await Promise.allSettled(all.map((member) => startMember(root, member, all)))
  const members = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const stop = async (): Promise<void> => void (await Promise.all(members.map((member) => member.stop())))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    await stop()
    throw failed.reason
  }
  const [first] = members
  if (first === undefined) throw new Error('a cluster has at least one member')
  return { members, stop, server: { ...first.server, url: all.map(({ client }) => client).join(',') } }
}

async function memberAt(index: number): Promise<Member> {
  const [client, peer] = [await freePort(), await freePort()]
  return { name: `n${index}`, client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` }
}

async function startMember(root: DebianRoot, member: Member, all: readonly Member[]): Promise<StartedServer> {
  const folder = await privateFolder('etcd')
  const [command, ...words] = root.program('usr/bin/etcd')
  const settings = {
    name: member.name,
    'data-dir': join(folder.path, 'data'),
    'listen-client-urls': member.client,
    'advertise-client-urls': member.client,
    'listen-peer-urls': member.peer,
    'initial-advertise-peer-urls': member.peer,
    'initial-cluster': all.map(({ name, peer }) => `${name}=${peer}`).join(','),
    'heartbeat-interval': '50',
    'election-timeout': '500',
    logger: 'zap',
  }
  return startServer({
    name: 'etcd',
    origin: 'download',
    folder,
    command,
    // what a process has written outlives it: only a machine that loses its power needs more
    args: [
      ...words,
      '--unsafe-no-fsync',
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ],
    // on arm64 older releases want to be told that they may
    env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch === 'arm64' ? 'arm64' : '' },
    url: member.client,
    version: () => versionOf(member.client),
  })
}

/** Only once the cluster has a leader. */
async function versionOf(client: string): Promise<string> {
  const health = (await (await fetch(`${client}/health`)).json()) as { readonly health: string }
  if (health.health !== 'true') throw new Error('it knows of no leader')
  const version = (await (await fetch(`${client}/version`)).json()) as { readonly etcdserver: string }
  return version.etcdserver
}
