// The command of the all-in-one image. With a DATABASE_URL it is the three services in this process. Without one it is the
// launcher, which runs its own PostgreSQL on the volume and the services as a process beside it.
const { DATABASE_URL, DATABASE_URL_FILE } = process.env
const program = DATABASE_URL || DATABASE_URL_FILE ? 'programs/all-in-one' : 'programs/launcher'
await import(`./${program}/dist/main.mjs`)
