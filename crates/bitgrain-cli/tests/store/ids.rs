//! Ids with unusual characters, numbers and long names.

use super::{error, folder, json, npy, printed, values};

/// Names that are difficult for terminals, file systems or JSON.
const ODD: [&str; 6] = ["with space", "line\nbreak", "../up/and\\away", "🙂é", "\"quoted\" \\n", "\u{1b}[31mred"];

#[test]
fn unusual_names_are_unchanged_in_json() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "x.npy", &[2], |at| at as f32);
    for id in ODD {
        let put = json(folder, &["put", "s", id, "x.npy"]);
        assert_eq!((put["id"].as_str(), put["id_kind"].as_str()), (Some(id), Some("name")));
        assert_eq!(json(folder, &["get", "s", id])["id"], id);
        assert_eq!(json(folder, &["stat", "s", id])["id"], id);
        assert_eq!(json(folder, &["pin", "s", id, "hot"])["id"], id);
        for text in [printed(folder, &["get", "s", id]), printed(folder, &["ls", "s", id])] {
            assert!(!text.contains('\u{1b}') && !text.contains("line\nbreak"), "{text}");
        }
    }
    let listed = json(folder, &["ls", "s"]);
    let ids: Vec<&str> = listed.as_array().expect("a list").iter().filter_map(|about| about["id"].as_str()).collect();
    assert!(ODD.iter().all(|id| ids.contains(id)), "{ids:?}");
    // Export and import keep the names.
    for file in ["all.npz", "all.safetensors"] {
        printed(folder, &["export", "s", file]);
        let other = format!("from-{file}");
        printed(folder, &["init", &other]);
        printed(folder, &["import", &other, file]);
        assert!(ODD.iter().all(|id| json(folder, &["stat", &other, id])["id"] == *id));
    }
}

#[test]
fn numeric_ids_are_strings_marked_as_numbers() {
    let folder = folder();
    let folder = folder.path();
    let largest = format!("#{}", u128::MAX);
    for id in ["#7", "#70", "#8", &largest, "7"] {
        printed(folder, &["put", "s", id, "v.npy"]);
    }
    let about = json(folder, &["stat", "s", &largest]);
    assert_eq!((about["id"].as_str(), about["id_kind"].as_str()), (Some(&largest[1..]), Some("number")));
    let listed = |prefix: &str| {
        let found = json(folder, &["ls", "s", prefix]);
        let one = |about: &serde_json::Value| format!("{} {}", about["id_kind"], about["id"]).replace('"', "");
        found.as_array().expect("a list").iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(listed("#7"), ["number 7", "number 70"]);
    assert_eq!(listed("7"), ["name 7"]);
    assert_eq!(listed("#").len(), 4);
    assert!(printed(folder, &["ls", "s", "#8"]).contains("#8"));
    assert_eq!(json(folder, &["export", "s", "numbers.npz", "--prefix", "#7"])["exported"], 2);
    printed(folder, &["rm", "s", "#7"]);
    assert!(error(folder, &["rm", "s", "#7"]).contains("unknown tensor id `#7`"));
    assert_eq!(listed("#7"), ["number 70"]);
}

#[test]
fn long_names_are_complete_in_json_and_shortened_in_tables() {
    let folder = folder();
    let folder = folder.path();
    let long = "x".repeat(65_536);
    assert_eq!(json(folder, &["put", "s", &long, "v.npy"])["id"], long.as_str());
    for arguments in [&["get", "s", &long][..], &["ls", "s", "xxx"], &["stat", "s", &long], &["pin", "s", &long, "hot"]]
    {
        let text = printed(folder, arguments);
        assert!(text.len() < 2000 && text.contains("xxx…"), "{} bytes", text.len());
    }
    printed(folder, &["rm", "s", &long]);
    let said = error(folder, &["get", "s", &long]);
    assert!(said.len() < 200 && said.contains("unknown tensor id `xxx"), "{said}");
    let said = error(folder, &["append", "s", &long, "v.npy", "--one", "--max-error", "-1"]);
    assert!(said.len() < 300 && said.contains("must be finite and at least 0"), "{said}");
    let longer = "x".repeat(65_537);
    assert!(error(folder, &["put", "s", &longer, "v.npy"]).contains("65537 bytes; at most 65536"));
    assert_eq!(values(&json(folder, &["get", "s", "m", "--rows", "0"])).len(), 64);
}
