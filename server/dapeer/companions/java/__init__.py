"""The debug adapter for Java, compiled at its first start, and a runner of JUnit tests."""
