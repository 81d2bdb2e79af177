import Testing

/// The tests' program: what SwiftPM would write for Swift Testing alone. Without this file, which SwiftPM knows by its name, it would
/// look for tests of XCTest in an index of the sources, of which there is none, since it takes long to make.
@main
struct TestProgram {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
