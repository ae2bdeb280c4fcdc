//! The client of async-openai; see client.h.

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::*;
use async_openai::Client;
use futures::StreamExt;
use peers::*;

type Any = Client<OpenAIConfig>;

fn user(text: &str) -> ChatCompletionRequestMessage {
    ChatCompletionRequestUserMessageArgs::default()
        .content(text)
        .build()
        .unwrap()
        .into()
}

fn assistant(text: &str) -> ChatCompletionRequestMessage {
    ChatCompletionRequestAssistantMessageArgs::default()
        .content(text)
        .build()
        .unwrap()
        .into()
}

fn request(messages: Vec<ChatCompletionRequestMessage>) -> CreateChatCompletionRequest {
    CreateChatCompletionRequestArgs::default()
        .model("m")
        .messages(messages)
        .build()
        .unwrap()
}

/// What a stream brings: its deltas, its text, and the call that it asks for.
#[derive(Default)]
struct Answer {
    deltas: usize,
    text: String,
    id: String,
    name: String,
    arguments: String,
}

fn take(answer: &mut Answer, event: CreateChatCompletionStreamResponse) {
    for choice in event.choices {
        if let Some(text) = choice.delta.content {
            answer.deltas += 1;
            answer.text.push_str(&text);
        }
        for call in choice.delta.tool_calls.unwrap_or_default() {
            if let Some(id) = call.id {
                answer.id = id;
            }
            if let Some(f) = call.function {
                if let Some(name) = f.name {
                    answer.name = name;
                }
                if let Some(piece) = f.arguments {
                    answer.deltas += !piece.is_empty() as usize;
                    answer.arguments.push_str(&piece);
                }
            }
        }
    }
}

async fn read_all(client: &Any, r: CreateChatCompletionRequest) -> Answer {
    let mut answer = Answer::default();
    let mut stream = client.chat().create_stream(r).await.unwrap();
    while let Some(event) = stream.next().await {
        take(&mut answer, event.unwrap());
    }
    answer
}

async fn run_plain(client: &Any, n: usize) -> usize {
    let mut events = 0;
    for _ in 0..n {
        events += read_all(client, request(vec![user("hi")])).await.deltas;
    }
    events
}

async fn run_history(client: &Any, n: usize) -> usize {
    let text = prose();
    let mut messages: Vec<_> = (0..HISTORY - 1)
        .map(|i| if i % 2 == 1 { assistant(&text) } else { user(&text) })
        .collect();
    let mut events = 0;
    for _ in 0..n {
        messages.push(user(&text));
        events += read_all(client, request(messages.clone())).await.deltas;
    }
    events
}

fn tool() -> ChatCompletionTools {
    let f = FunctionObjectArgs::default()
        .name("note")
        .description("keeps a note")
        .parameters(serde_json::json!({"type": "object",
            "properties": {"text": {"type": "string"}}}))
        .build()
        .unwrap();
    ChatCompletionTools::Function(ChatCompletionTool { function: f })
}

fn add_call(messages: &mut Vec<ChatCompletionRequestMessage>, a: Answer) {
    let _: serde_json::Value = serde_json::from_str(&a.arguments).unwrap();
    let call = ChatCompletionMessageToolCall {
        id: a.id.clone(),
        function: FunctionCall { name: a.name, arguments: a.arguments },
    };
    messages.push(
        ChatCompletionRequestAssistantMessageArgs::default()
            .tool_calls(vec![ChatCompletionMessageToolCalls::Function(call)])
            .build()
            .unwrap()
            .into(),
    );
    messages.push(
        ChatCompletionRequestToolMessageArgs::default()
            .tool_call_id(a.id)
            .content("fine")
            .build()
            .unwrap()
            .into(),
    );
}

async fn run_tools(client: &Any, n: usize) -> usize {
    let mut events = 0;
    for _ in 0..n {
        let mut messages = vec![user("hi")];
        loop {
            let mut r = request(messages.clone());
            r.tools = Some(vec![tool()]);
            let answer = read_all(client, r).await;
            events += answer.deltas;
            if answer.id.is_empty() {
                break;
            }
            add_call(&mut messages, answer);
        }
    }
    events
}

async fn run_paced(client: &Any, n: usize) -> usize {
    let all = (0..n).map(|_| read_all(client, request(vec![user("hi")])));
    futures::future::join_all(all).await.iter().map(|a| a.deltas).sum()
}

async fn run_hold(client: &Any, n: usize) {
    allow_files();
    let mut all = Vec::new();
    for i in 0..=n {
        if i == 1 {
            meet("base");
        }
        let mut s = client.chat().create_stream(request(vec![user("hi")])).await.unwrap();
        s.next().await.unwrap().unwrap();
        all.push(s);
    }
    meet("held");
    std::process::exit(0);
}

async fn run_start(client: &Any) {
    let mut s = client.chat().create_stream(request(vec![user("hi")])).await.unwrap();
    s.next().await.unwrap().unwrap();
    say("first");
    while s.next().await.is_some() {}
}

async fn run(client: &Any, workload: &str, n: usize) -> usize {
    match workload {
        "history" => run_history(client, n).await,
        "tools" => run_tools(client, n).await,
        "paced" => run_paced(client, n).await,
        _ => run_plain(client, n).await,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let a = args();
    let config = OpenAIConfig::new()
        .with_api_key("k")
        .with_api_base(format!("{}/v1", a.base));
    let client = Client::with_config(config);
    match a.workload.as_str() {
        "hold" => run_hold(&client, a.n).await,
        "start" => run_start(&client).await,
        w => {
            run(&client, w, std::cmp::max(1, a.n / 5)).await;
            let began = cpu_us();
            report(run(&client, w, a.n).await, began);
        }
    }
}
