import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

/** Looks after a folder for the case that this process is killed, and can clean up nothing. */
export interface Guardian {
  /** Which program runs in the folder now; none when it is left out. */
  readonly watch: (pid?: number) => void
  /** The folder is gone in the ordinary way. */
  readonly dismiss: () => void
}

/**
 * Reads a pipe whose other end is ours. The kernel closes it however we end: then the program is ended, and the folder
 * removed. A program of which there was no time to tell finds its folder gone, and PostgreSQL ends by that.
 */
const script = `
trap '' INT TERM HUP
pid=
while read -r word value; do
  case $word in
    watch) pid=$value ;;
    dismiss) exit ;;
  esac
done
if [ -n "$pid" ]; then
  kill -QUIT "$pid"
  tries=100
  while [ $tries -gt 0 ] && kill -0 "$pid"; do tries=$((tries - 1)); sleep 0.1; done
  kill -KILL "$pid"
fi
tries=50
until rm -rf "$1" || [ $tries -eq 0 ]; do tries=$((tries - 1)); sleep 0.1; done
`

/** A process of its own, which a Ctrl-C does not reach. There is none on Windows, which has no shell of this kind. */
export function guard(folder: string): Guardian {
  if (process.platform === 'win32') return { watch: () => {}, dismiss: () => {} }
  const shell = spawn('sh', ['-c', script, 'holdfast-guardian', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // without it, all that is not killed still cleans up itself
  shell.once('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  const say = (line: string): void => void shell.stdin.write(`${line}\n`)
  return {
    watch: (pid) => say(`watch ${pid ?? ''}`),
    dismiss: () => {
      say('dismiss')
      shell.stdin.end()
    },
  }
}
