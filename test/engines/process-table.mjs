// Plain JavaScript: the reaper runs it with node alone, where there is no TypeScript loader.
import { readFileSync, readdirSync } from 'node:fs'

/** The fields of /proc/PID/stat (or PID/task/TID) after the name, which may itself hold spaces and brackets. */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

export function startTime(pid) {
  const fields = statFields(pid)
  // an unreaped zombie still has an entry, but it is dead
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/** None on a system without /proc, where we start no servers. */
function allPids() {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function namesIn(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export function withDescendants(root) {
  const children = new Map()
  for (const pid of allPids()) {
    const parent = Number(statFields(pid)?.[1])
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const found = [root]
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

export function marked(mark) {
  return allPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)
    } catch {
      return false
    }
  })
}

export function isStopped(pid) {
  try {
    // each thread stops when it next meets the kernel, one later than the other
    return readdirSync(`/proc/${pid}/task`).every((thread) =>
      'TtZX'.includes(statFields(`${pid}/task/${thread}`)?.[0] ?? 'X'),
    )
  } catch {
    return true // it is gone
  }
}

export function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
}
