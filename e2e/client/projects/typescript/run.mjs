import { schedule } from './out/schedule.js'

console.log(JSON.stringify(await schedule(JSON.parse(process.argv[2]))))
