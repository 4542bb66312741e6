import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DockerfileParser, type Instruction, type JSONInstruction, type PropertyInstruction } from 'dockerfile-ast'
import { repositoryRoot } from '../repository-root.ts'

/** The image of a target of the Dockerfile, including the stages that it builds on. */
export type Image = {
  name: string
  base: string
  user: string | undefined
  env: Record<string, string>
  /** The default command of a container. */
  command: string[]
  /** The command of the health check; null without one. */
  healthCheck: string[] | null
  /** The folders that it copies below its working directory. */
  copied: string[]
}

export function dockerfile(): string {
  return readFileSync(join(repositoryRoot(), 'Dockerfile'), 'utf8')
}

/** Reads the stages of the Dockerfile by name. */
export function readImages(): Map<string, Image> {
  const defaults = new Map<string, string>()
  const images = new Map<string, Image>()
  let image: Image | undefined
  for (const instruction of DockerfileParser.parse(dockerfile()).getInstructions()) {
    const words = instruction.getArguments().map(argument => argument.getValue())
    const keyword = instruction.getKeyword()
    if (keyword === 'ARG' && !image) addPair(words[0], (name, value) => defaults.set(name, value))
    if (keyword === 'FROM') image = begin(words, images, defaults)
    else if (image) apply(image, keyword, words, instruction)
  }
  return images
}

function begin([from = '', , name = '']: string[], images: Map<string, Image>, defaults: Map<string, string>): Image {
  const base = from.replace(/\$\{(\w+)\}/g, (_, variable) => defaults.get(variable) ?? '')
  const parent = images.get(base)
  const own = { name, base: parent?.base ?? base, copied: [...(parent?.copied ?? [])] }
  const inherited = parent ?? { user: undefined, env: {}, command: [], healthCheck: null }
  const image = { ...inherited, ...own, env: { ...inherited.env } }
  images.set(name, image)
  return image
}

function apply(image: Image, keyword: string, words: string[], instruction: Instruction): void {
  const list = () => jsonStrings(instruction)
  if (keyword === 'USER') image.user = words[0]
  if (keyword === 'ENV') {
    for (const pair of (instruction as PropertyInstruction).getProperties()) {
      image.env[pair.getName()] = pair.getValue() ?? '' // without its quotes
    }
  }
  if (keyword === 'ENTRYPOINT') image.command = list()
  if (keyword === 'CMD') image.command = [...image.command, ...list()]
  if (keyword === 'HEALTHCHECK') image.healthCheck = words[0] === 'NONE' ? null : JSON.parse(words.slice(1).join(' '))
  if (keyword === 'COPY') image.copied.push(...words.slice(0, -1))
}

function jsonStrings(instruction: Instruction): string[] {
  return (instruction as JSONInstruction).getJSONStrings().map(text => text.getJSONValue()) // both have this form
}

function addPair(word: string | undefined, add: (name: string, value: string) => void): void {
  const [, name, value] = /^(\w+)=(.*)$/.exec(word ?? '') ?? []
  if (name !== undefined && value !== undefined) add(name, value)
}
