use ctxweave::loom::wire::{assemble_buffer_json, assemble_dialogue_json};
#[test]
fn smoke() {
    for (file, tip, window) in [("story","alice-108",4000),("story","alice-108",20000),("agent","agent-36",6000),("agent","agent-36",60000),("sources","a-11",3000)] {
        let tree: serde_json::Value = serde_json::from_slice(&std::fs::read(format!("examples/trees/{file}.json")).unwrap()).unwrap();
        let media: serde_json::Value = serde_json::from_slice(&std::fs::read("examples/trees/media.json").unwrap()).unwrap();
        for strategy in ["truncateMiddle","rollingWindow","stopAtLimit"] {
        let req = serde_json::json!({"tree":tree,"tip":tip,"contextWindow":window,"media":media,"preferences":{"truncationStrategy":strategy}});
        for f in [assemble_dialogue_json, assemble_buffer_json] {
        match f(&serde_json::to_vec(&req).unwrap()) {
            Ok(v) => { let v: serde_json::Value = serde_json::from_slice(&v).unwrap();
               println!("{file} {tip} {window} {strategy} msgs={:?} doc={:?} tokens={} trunc={} cut={:?} met={} diags={}", v["messages"].as_array().map(|m| m.len()), v["document"].as_str().map(|d|d.len()), v["report"]["tokens"], v["report"]["truncated"], v["report"]["cut"]["nodeIds"].as_array().map(|x|x.len()), v["report"]["minimumRecentNodesMet"], v["report"]["diagnostics"].as_array().unwrap().len());
            }
            Err(e) => println!("{file} {window} {strategy} {e}"),
        }}}
    }
}
