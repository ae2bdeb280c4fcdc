//! The client of genai; see client.h.

use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use peers::*;

fn request() -> ChatRequest {
    ChatRequest::new(vec![ChatMessage::user("hi")])
}

/// The deltas of an answer, and its calls.
async fn read_all(client: &Client, r: ChatRequest) -> (usize, Vec<ToolCall>) {
    let options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_tool_calls(true);
    let mut deltas = 0;
    let mut calls = Vec::new();
    let mut s = client.exec_chat_stream("m", r, Some(&options)).await.unwrap();
    while let Some(event) = s.stream.next().await {
        match event.unwrap() {
            ChatStreamEvent::Chunk(_) => deltas += 1,
            ChatStreamEvent::ToolCallChunk(_) => deltas += 1,
            ChatStreamEvent::End(end) => {
                calls = end.captured_into_tool_calls().unwrap_or_default();
            }
            _ => (),
        }
    }
    (deltas, calls)
}

async fn run_plain(client: &Client, n: usize) -> usize {
    let mut events = 0;
    for _ in 0..n {
        events += read_all(client, request()).await.0;
    }
    events
}

async fn run_history(client: &Client, n: usize) -> usize {
    let text = prose();
    let mut messages: Vec<_> = (0..HISTORY - 1)
        .map(|i| {
            if i % 2 == 1 {
                ChatMessage::assistant(text.clone())
            } else {
                ChatMessage::user(text.clone())
            }
        })
        .collect();
    let mut events = 0;
    for _ in 0..n {
        messages.push(ChatMessage::user(text.clone()));
        events += read_all(client, ChatRequest::new(messages.clone())).await.0;
    }
    events
}

fn tool() -> Tool {
    Tool::new("note")
        .with_description("keeps a note")
        .with_schema(serde_json::json!({"type": "object",
            "properties": {"text": {"type": "string"}}}))
}

async fn run_tools(client: &Client, n: usize) -> usize {
    let mut events = 0;
    for _ in 0..n {
        let mut r = request().with_tools(vec![tool()]);
        loop {
            let (deltas, calls) = read_all(client, r.clone()).await;
            events += deltas;
            let Some(first) = calls.first() else { break };
            let result = ToolResponse::new(first.call_id.clone(), "fine");
            r = r.append_message(ChatMessage::from(calls)).append_message(result);
        }
    }
    events
}

async fn run_paced(client: &Client, n: usize) -> usize {
    let all = (0..n).map(|_| read_all(client, request()));
    futures::future::join_all(all).await.iter().map(|a| a.0).sum()
}

async fn run_hold(client: &Client, n: usize) {
    allow_files();
    let mut all = Vec::new();
    for i in 0..=n {
        if i == 1 {
            meet("base");
        }
        let mut s = client.exec_chat_stream("m", request(), None).await.unwrap();
        while let Some(event) = s.stream.next().await {
            if let ChatStreamEvent::Chunk(_) = event.unwrap() {
                break;
            }
        }
        all.push(s);
    }
    meet("held");
    std::process::exit(0);
}

async fn run_start(client: &Client) {
    let mut s = client.exec_chat_stream("m", request(), None).await.unwrap();
    while let Some(event) = s.stream.next().await {
        if let ChatStreamEvent::Chunk(_) = event.unwrap() {
            say("first");
        }
    }
}

async fn run(client: &Client, workload: &str, n: usize) -> usize {
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
    let url = format!("{}/v1/", a.base);
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |t: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(url.clone()),
                auth: AuthData::from_single("k"),
                model: ModelIden::new(AdapterKind::OpenAI, t.model.model_name),
            })
        },
    );
    let client = Client::builder()
        .with_service_target_resolver(resolver)
        .build()
        .unwrap();
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
