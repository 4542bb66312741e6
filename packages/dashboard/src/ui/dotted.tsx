import { Fragment } from 'react'

/** A name with dots. Lines break after a dot. */
export function Dotted({ name }: { name: string }) {
  return name.split(/(?<=\.)/).map((part, index) => (
    <Fragment key={`${index}-${part}`}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
