import Foundation
import TestSupport

/// Swift's compiler, beside the sources of the client and a directory for what it makes.
struct Compiler {
    /// Where it writes; the caller removes it.
    let directory: URL

    /// The compiler's verdict: whether it took the sources, and what it reported.
    struct Verdict {
        var isAccepted: Bool
        var report: String
    }

    /// Runs `body` with a directory that is gone afterwards.
    static func with<Answer>(_ body: (Compiler) async throws -> Answer) async throws -> Answer {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(Compiler(directory: directory))
    }

    /// The files of a folder below the package's, in the order of their paths.
    static func sources(_ folder: String) throws -> [URL] {
        let root = packageRoot.appending(path: folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { root.appending(path: $0) }
    }

    /// What the client is compiled with, apart from warnings: `rules` in Package.swift. One compiler reads all files, once.
    private static let rules =
        ["-swift-version", "6", "-parse-as-library", "-whole-module-optimization"]
        + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
        .flatMap { ["-enable-upcoming-feature", $0] }

    /// Makes modules named as Apple's out of the declarations in Tests/Stubs. Their enums may grow, as those of a system's
    /// library may.
    func makeStubs() async throws {
        for name in ["StoreKit", "Combine"] {
            let files = try Self.sources("Tests/Stubs/\(name)")
            _ = try await run(
                [
                    "-emit-module", "-enable-library-evolution", "-suppress-warnings", "-module-name", name,
                    "-emit-module-path", directory.appending(path: "\(name).swiftmodule").path,
                ] + Self.rules + files.map(\.path))
        }
    }

    /// Checks the client's sources, warnings included, as on a system that has what the stubs declare.
    /// - Parameter changed: files to take in place of those of the same name.
    func check(_ module: String, changed: [URL] = []) async throws -> Verdict {
        let names = Set(changed.map(\.lastPathComponent))
        let files = try Self.sources("Sources/Client/\(module)").filter { !names.contains($0.lastPathComponent) }
        return try await check(files + changed, as: module)
    }

    /// Checks files that may import the modules in the directory.
    func check(_ files: [URL], as module: String) async throws -> Verdict {
        let arguments = ["-typecheck", "-warnings-as-errors", "-module-name", module, "-I", directory.path]
        return try await verdict("swiftc", arguments + Self.rules + files.map(\.path))
    }

    /// Makes the client's module, with what the stubs make it offer on Apple's systems.
    func makeModule(_ module: String) async throws {
        let path = directory.appending(path: "\(module).swiftmodule").path
        // What functions do is checked elsewhere, and takes nearly all of the time.
        let arguments = [
            "-emit-module", "-Xfrontend", "-experimental-skip-all-function-bodies", "-module-name", module,
            "-emit-module-path", path, "-I", directory.path,
        ]
        _ = try await run(arguments + Self.rules + (try Self.sources("Sources/Client/\(module)")).map(\.path))
    }

    /// Runs a program of Swift's toolchain.
    /// - Returns: what it wrote to standard output.
    func tool(_ name: String, _ arguments: [String]) async throws -> String {
        try await ChildProgram.run("/usr/bin/env", [name] + arguments)
    }

    private func run(_ arguments: [String]) async throws -> String { try await tool("swiftc", arguments) }

    /// Runs a program of Swift's toolchain, and takes what it writes to standard output and standard error.
    func verdict(_ name: String, _ arguments: [String]) async throws -> Verdict {
        let program = try ChildProgram(
            "/usr/bin/env", [name] + arguments, environment: ProcessInfo.processInfo.environment)
        let ending = await program.end()
        let report = program.output + program.errors
        await program.discard()
        return Verdict(isAccepted: ending == .exited(0), report: report)
    }
}
