import { Belfry } from '@belfry/client'

const { targetUrl, ...options } = JSON.parse(process.argv[2])
const belfry = new Belfry(options)
const task = await belfry.tasks.create({
  name: 'From an ES module',
  targetUrl,
  executeAt: new Date(Date.now() + 5_000),
  method: 'post',
  payload: JSON.stringify({ from: 'esm' }),
})
for (;;) {
  const { data } = await belfry.runs.list({ taskId: task.id })
  if (data[0]) {
    console.log(JSON.stringify(data[0]))
    break
  }
  await new Promise(resolve => setTimeout(resolve, 100))
}
