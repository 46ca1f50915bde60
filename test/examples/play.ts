/*
 * Plays several stories one after another, with what it is given as their arguments, so that the library is loaded once:
 * play.ts transfer,quota --url <address>
 */
const [stories = '', ...args] = process.argv.slice(2)

for (const story of stories.split(',')) {
  console.log(`## ${story}`)
  process.argv = [process.execPath, `${story}.ts`, ...args]
  try {
    await import(`../../examples/${story}.ts`)
  } catch (error) {
    console.log(error)
  }
}
