// The colours of charts and of the PDF: one accent, which is dark on a grey printer too.

export const ink = '#1c2530'
export const quiet = '#56626e'
export const accent = '#0b4f6c'
export const hairline = '#d3dae0'
export const paper = '#f4f6f8'
