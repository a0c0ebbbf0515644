// The names of libraries for one thing: attributes and values of the semantic conventions for generative AI first, then those of
// older versions and of common libraries (OpenInference, Traceloop, AI SDK, LangSmith, Langfuse, MLflow, Agent Development Kit).

/** The kind of span, where a library has names of its own. */
export const kindAttributes = [
  'openinference.span.kind',
  'traceloop.span.kind',
  'langsmith.span.kind',
  'langfuse.observation.type',
  'mlflow.spanType',
] as const

/** The values of these attributes in lower case. */
export const kindValues = {
  model: ['llm', 'chat_model', 'generation', 'embedding'],
  tool: ['tool'],
  agent: ['agent'],
  retrieval: ['retriever'],
} as const

/** `ai.operationId` of the AI SDK: its other operations contain these. */
export const modelOperationIds = /^ai\.\w+\.do(?:Generate|Stream|Embed)$/

export const modelNames = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name', 'ai.model.id'] as const

export const toolNames = ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'traceloop.entity.name'] as const
/** Those of them that only a call of a tool has. */
export const toolCallNames = ['gen_ai.tool.name', 'ai.toolCall.name'] as const
export const callIdNames = ['gen_ai.tool.call.id', 'ai.toolCall.id', 'tool_call.id'] as const

export const argumentNames = [
  'gen_ai.tool.call.arguments',
  'ai.toolCall.args',
  'tool_arguments',
  'gcp.vertex.agent.tool_call_args',
  'traceloop.entity.input',
  'langfuse.observation.input',
  'mlflow.spanInputs',
  'input.value',
] as const

export const resultNames = [
  'gen_ai.tool.call.result',
  'ai.toolCall.result',
  'tool_response',
  'gcp.vertex.agent.tool_response',
  'traceloop.entity.output',
  'langfuse.observation.output',
  'mlflow.spanOutputs',
  'output.value',
] as const

/** The input of a model or an agent, as a list of messages, a message or text. */
export const inputNames = ['gen_ai.input.messages', 'gen_ai.prompt', 'ai.prompt.messages'] as const
export const outputNames = ['gen_ai.output.messages', 'gen_ai.completion'] as const
/** The same with an attribute for each member, such as `gen_ai.prompt.0.content`. */
export const indexedInputs = ['gen_ai.prompt', 'llm.input_messages'] as const
export const indexedOutputs = ['gen_ai.completion', 'llm.output_messages'] as const

/** The text of an answer and its calls of tools, where a library keeps them apart. */
export const answerText = 'ai.response.text'
export const answerCalls = 'ai.response.toolCalls'

/** Attributes with content, which a step has as its input and output. */
export const contentNames: ReadonlySet<string> = new Set([
  ...inputNames,
  ...outputNames,
  ...indexedInputs,
  ...indexedOutputs,
  'gen_ai.system_instructions',
  answerText,
  answerCalls,
])
