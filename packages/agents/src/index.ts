export { createAgentServer } from './create-agent-server.ts'
