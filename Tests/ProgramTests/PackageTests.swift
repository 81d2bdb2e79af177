import Foundation
import TestSupport
import Testing

/// A person who has the tarball of deploy/package and nothing else reads these documents, and runs what they name.
@Suite("What deploy/package packs")
struct PackageTests {
    /// The paths of all packed files, and of the folders that they are in.
    private static func packed() async throws -> (files: [String], paths: Set<String>) {
        let listed = try await ChildProgram.run(
            "/bin/bash", ["-euc", "cd \"$0\"; . deploy/lib/release.sh; packed_files .", packageRoot.path],
            environment: ["PATH": "/usr/bin:/bin"])
        let files = listed.split(separator: "\n").map(String.init)
        var paths = Set(files)
        for file in files {
            let parts = file.split(separator: "/")
            for count in 1..<max(1, parts.count) { paths.insert(parts.prefix(count).joined(separator: "/")) }
        }
        return (files, paths)
    }

    /// What a clone alone has, as deploy/README.md says it to the readers of the package.
    private static func ofClone() throws -> [String] {
        let text = try Document("deploy/README.md").text.replacing("\n", with: " ")
        let sentence = try #require(text.firstMatch(of: #/is in a clone alone: (.*?), and of `deploy` the (.*?)\. /#))
        func names(_ text: Substring) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }
        return names(sentence.1) + names(sentence.2).map { "deploy/\($0)" }
    }

    /// The paths of the project that a text names. `deploy/storehook-ops` is a deployment of Kubernetes, and `deploy/.env` is made by
    /// its reader.
    private static func named(in text: String) -> [String] {
        text.matches(
            of: #/(?:^|[^A-Za-z0-9_.\/-])((?:Sources|Tests|deploy|sql|\.ci)\/[A-Za-z0-9._\/+-]*[A-Za-z0-9])/#
        ).map { String($0.1) }.filter { !$0.hasPrefix("deploy/storehook-") && $0 != "deploy/.env" }
    }

    @Test("has every file that its documents, scripts, units and examples name, and that the program's texts name")
    func names() async throws {
        let (files, paths) = try await Self.packed()
        let ofClone = try Self.ofClone()
        #expect(ofClone.count >= 10, "this test reads deploy/README.md wrongly: \(ofClone)")
        for path in ofClone where path.hasPrefix("deploy/") {
            #expect(!paths.contains(path), "\(path) is packed, and deploy/README.md says that it is not")
            #expect(FileManager.default.fileExists(atPath: packageRoot.appending(path: path).path), "\(path)")
        }
        var texts = try files.filter { !$0.hasPrefix("sql/migrations/") && !$0.hasSuffix(".png") }.map { path in
            (path, try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8))
        }
        // What the program says: its help and its errors, not what stands in comments.
        let sources = packageRoot.appending(path: "Sources")
        for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        where file.hasSuffix(".swift") && !file.hasPrefix("Programs/storehook-bench/") && !file.hasPrefix("Client/") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            let said = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            texts.append(("Sources/\(file)", said.joined(separator: "\n")))
        }
        var count = 0
        for (file, text) in texts {
            for path in Set(Self.named(in: text)) {
                count += 1
                let isOfClone = ofClone.contains { path == $0 || path.hasPrefix("\($0)/") }
                #expect(paths.contains(path) || isOfClone, "\(file) names \(path), which the package lacks")
            }
        }
        #expect(count >= 60, "this test reads paths wrongly: \(count)")
        for path in [
            "deploy/prometheus/rules.yml", "deploy/grafana/storehook.json", "deploy/catalogs/catalog.schema.json",
            "deploy/install", "sql/roles.sql", "README.md", Document.chapter("Configuration"),
        ] { #expect(paths.contains(path), "\(path)") }
    }

    @Test("has every file that a link of its documents leads to, and the chapters that the program names")
    func links() async throws {
        let (files, paths) = try await Self.packed()
        let documents = try files.filter { $0.hasSuffix(".md") }.map { try Document($0) }
        #expect(documents.reduce(0) { $0 + $1.links.count } >= 50, "this test reads links wrongly")
        for document in documents {
            for link in document.links where !link.contains("://") && !link.hasPrefix("#") {
                let folder = document.path.split(separator: "/").dropLast().map(String.init)
                let target = link.prefix { $0 != "#" }.split(separator: "/").reduce(into: folder) { parts, part in
                    if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
                }.joined(separator: "/")
                #expect(paths.contains(target), "\(document.path) leads to \(target), which the package lacks")
            }
        }
        let titles = Set(documents.compactMap { $0.text.firstMatch(of: /^# (.+)/).map { String($0.1) } })
        let sources = packageRoot.appending(path: "Sources")
        for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for found in text.matches(of: /the chapter ([A-Z][a-z]+(?: (?:[a-z]+|Apple))?)/) {
                let name = String(found.1)
                let isThere = titles.contains { title in title == name || name.hasPrefix("\(title) ") }
                #expect(isThere, "\(file) names the chapter \(name), which the package lacks")
            }
        }
    }
}
