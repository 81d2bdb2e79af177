// Writes a software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), for deploy/package:
//
//     sbom PACKAGE.RESOLVED PROGRAM COMMIT NAME=VERSION… > storehook.cdx.json
//
// PROGRAM is the binary, whose SHA-256 the caller hands in by PROGRAM.sha256; the rest are what it takes from the system or
// carries along besides Swift packages: Debian's packages, and Swift itself as swift=VERSION.

import Foundation

struct Resolved: Decodable {
    struct Pin: Decodable {
        struct State: Decodable {
            var revision: String
            var version: String?
        }
        var identity: String
        var location: String
        var state: State
    }
    var pins: [Pin]
}

struct Bill: Encodable {
    struct Hash: Encodable {
        var alg = "SHA-256"
        var content: String
    }
    struct Reference: Encodable {
        var type: String
        var url: String
    }
    struct Component: Encodable {
        enum CodingKeys: String, CodingKey {
            case type, name, version, purl, hashes, externalReferences
            case reference = "bom-ref"
        }
        var type: String
        var reference: String
        var name: String
        var version: String
        var purl: String?
        var hashes: [Hash]?
        var externalReferences: [Reference]?
    }
    struct Metadata: Encodable {
        var timestamp: String
        var component: Component
    }
    struct Dependency: Encodable {
        var ref: String
        var dependsOn: [String]
    }
    var bomFormat = "CycloneDX"
    var specVersion = "1.6"
    var serialNumber: String
    var version = 1
    var metadata: Metadata
    var components: [Component]
    var dependencies: [Dependency]
}

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data("sbom: \(text)\n".utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { fail("see the top of sbom.swift") }
let (lock, program, commit) = (arguments[0], arguments[1], arguments[2])
do {
    let pins = try JSONDecoder().decode(Resolved.self, from: Data(contentsOf: URL(filePath: lock))).pins
    let sum = try String(contentsOfFile: program + ".sha256", encoding: .utf8).prefix { $0.isHexDigit }
    guard sum.count == 64 else { fail("\(program).sha256 holds no SHA-256") }

    let packages = pins.map { pin in
        let version = pin.state.version ?? pin.state.revision
        // https://github.com/package-url/purl-spec: swift packages are named by where they are fetched.
        let place = pin.location.replacing("https://", with: "").replacing(#/\.git$/#, with: "")
        let purl = "pkg:swift/\(place)@\(version)"
        return Bill.Component(
            type: "library", reference: purl, name: pin.identity, version: version, purl: purl,
            externalReferences: [.init(type: "vcs", url: pin.location)])
    }
    let others = arguments.dropFirst(3).map { text in
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { fail("what is \(text)") }
        let purl = parts[0] == "swift" ? nil : "pkg:deb/debian/\(parts[0])@\(parts[1].replacing("+", with: "%2B"))"
        return Bill.Component(
            type: "library", reference: purl ?? "swift@\(parts[1])", name: parts[0], version: parts[1], purl: purl)
    }
    let components = (packages + others).sorted { $0.reference < $1.reference }
    let own = Bill.Component(
        type: "application", reference: "storehook", name: "storehook", version: commit,
        hashes: [.init(content: String(sum).lowercased())])
    let bill = Bill(
        serialNumber: "urn:uuid:\(UUID().uuidString.lowercased())",
        metadata: .init(timestamp: Date().formatted(.iso8601), component: own), components: components,
        dependencies: [.init(ref: own.reference, dependsOn: components.map(\.reference))])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    FileHandle.standardOutput.write(try encoder.encode(bill) + Data("\n".utf8))
} catch {
    fail("\(error)")
}
