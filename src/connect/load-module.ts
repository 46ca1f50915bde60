import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConnectError } from './connect-error.ts'
import type { Driver } from './driver.ts'

/** The driver's module: the user's own, else one that is installed beside Holdfast. */
export async function loadDriver({ name, module = name, load }: Driver): Promise<unknown> {
  const file = findModule(module)
  if (file === undefined) {
    throw new ConnectError('driver', `the driver ${name} is not installed: npm install ${name}`)
  }
  try {
    const loaded = await loadFile(file)
    load?.(loaded)
    return loaded
  } catch (error) {
    const words = `the driver ${name} is installed, but does not load: ${firstSentence(error)}`
    throw new ConnectError('driver', words, { cause: error })
  }
}

/** Where a module of a package is, as seen from the working directory, else from here; undefined when nowhere. */
export function findModule(specifier: string): string | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(specifier)
    } catch {
      // not to be had from there
    }
  }
  return undefined
}

/** What a module exports; of one in the older format, what it calls `module.exports`. */
export async function loadFile(file: string): Promise<unknown> {
  const loaded: unknown = await import(pathToFileURL(file).href)
  const isOlder = typeof loaded === 'object' && loaded !== null && 'default' in loaded
  return isOlder ? loaded.default : loaded
}

/** A native module that does not load says so in many lines, and its first sentence may go over several of them. */
function firstSentence(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error)
  const [first = ''] = /^.*?\.(?=\s|$)/s.exec(text) ?? text.split('\n', 1)
  return first.replaceAll('\n', ' ')
}
