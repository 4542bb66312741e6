import { Fragment, type ReactNode } from 'react'

/** A name in parts joined by dots, which goes into the next line between parts rather than within one. */
export function Dotted({ name }: { name: string }): ReactNode {
  return name.split('.').map((part, index) => (
    <Fragment key={`${index}-${part}`}>
      {index > 0 && (
        <>
          .<wbr />
        </>
      )}
      {part}
    </Fragment>
  ))
}
