import Testing

/// The tests' program: what SwiftPM would write for Swift Testing alone. Without this file, which SwiftPM knows by its name, it would
/// look for tests of XCTest in an index of the sources, which the build does not make.
@main
struct TestProgram {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
