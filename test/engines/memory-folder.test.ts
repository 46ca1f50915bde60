import { expect, test } from 'vitest'

import { mayRunPrograms } from './memory-folder.ts'

const mountedAs = (kind: string, options: string): string =>
  `/dev/vda / ext4 rw 0 0\n${kind} /dev/shm ${kind} ${options} 0 0\ntmpfs /run tmpfs rw,noexec 0 0\n`

test.each([
  ['tmpfs', 'rw,relatime,size=24684096k', true],
  ['tmpfs', 'rw,nosuid,nodev,noexec,relatime,size=65536k', false],
  ['ext4', 'rw,relatime', false],
])('what is mounted as %s with %s is used: %s', (kind, options, is) => {
  expect(mayRunPrograms(mountedAs(kind, options), '/dev/shm')).toBe(is)
})

test('a place that is not mounted is not used', () => {
  expect(mayRunPrograms('/dev/vda / ext4 rw 0 0\n', '/dev/shm')).toBe(false)
})
